import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { currencyCode, reference, shortText, timeZone } from '../fields.ts';

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
    changes: z.strictObject({
      name: shortText,
      account_id: reference('acc'),
      currency: currencyCode.optional(),
      time_zone: timeZone.optional(),
    }),
    machines: ['management'],
    event: 'workspace.provisioned',
    hasRule: true,
    problems: ['value_taken'],
    summary: 'Opens the workspace of a new account, in euros and UTC unless the changes say otherwise.',
  }),
} as const;
