import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { reference, shortText } from '../fields.ts';

/** Workspaces: the tenant; one per account. */
export const workspaces = defineResource({
  type: 'workspaces',
  noun: 'workspace',
  prefix: 'ws',
  attributes: z.strictObject({
    name: shortText,
    account_id: reference('acc'),
    currency: z.string().regex(/^[A-Z]{3}$/),
    time_zone: z.string(),
  }),
  states: ['provisioning', 'active', 'suspended', 'closed'],
  terminalStates: ['closed'],
  links: {},
  uniqueAttributes: [],
});

export const workspaceCommands = {
  'workspace.provision': defineCommand({
    type: 'workspace.provision',
    subject: 'workspaces',
    to: 'active',
    changes: z.strictObject({ name: shortText, account_id: reference('acc') }),
    machines: ['management'],
    event: 'workspace.provisioned',
    hasRule: true,
    summary: 'Opens the workspace of a new account.',
  }),
} as const;
