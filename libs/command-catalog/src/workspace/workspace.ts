import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, currencyCode, instant, reference, shortText, stateReason, timeZone } from '../fields.ts';

/** Workspaces: the tenant; one per account. */
export const workspaces = defineResource({
  type: 'workspaces',
  noun: 'workspace',
  prefix: 'ws',
  attributes: z.strictObject({
    name: shortText,
    account_id: reference('acc'),
    currency: z.string().regex(/^[A-Z]{3}$/),
    /** IANA name: the zone in which dates of the workspace are meant. */
    time_zone: z.string(),
    /** When closing began; it cannot be taken back. */
    closing_since: instant.optional(),
    state_reason: stateReason,
  }),
  states: ['provisioning', 'active', 'suspended', 'closed'],
  terminalStates: ['closed'],
  links: {},
  uniqueAttributes: [],
});

const reviewers = ['reviewer', 'admin'] as const;

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
  'workspace.configure': defineCommand({
    type: 'workspace.configure',
    subject: 'workspaces',
    from: ['active'],
    changes: z.strictObject({ name: shortText.optional(), time_zone: timeZone.optional() }),
    roles: ['admin'],
    versionGuard: 'required',
    review: 'dual',
    reviewers,
    event: 'workspace.configured',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Changes the name or the time zone of the workspace.',
  }),
  'workspace.suspend': defineCommand({
    type: 'workspace.suspend',
    subject: 'workspaces',
    from: ['active'],
    to: 'suspended',
    changes: z.strictObject({ cause }),
    roles: ['admin'],
    versionGuard: 'required',
    review: 'single',
    reviewers,
    event: 'workspace.suspended',
    externalEffect:
      'Within 5 s no ad is decided. Feeds and audio stay; commands of people are refused until the workspace is resumed.',
    summary: 'Suspends the workspace: its content stays as it is, and its advertising stops.',
  }),
  'workspace.resume': defineCommand({
    type: 'workspace.resume',
    subject: 'workspaces',
    from: ['suspended'],
    to: 'active',
    changes: z.strictObject({ cause }),
    roles: ['admin'],
    whileSuspended: 'accepted',
    versionGuard: 'required',
    review: 'single',
    reviewers,
    event: 'workspace.resumed',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect: 'Within 5 s ads are decided again.',
    summary: 'Ends the suspension of the workspace.',
  }),
  'workspace.close': defineCommand({
    type: 'workspace.close',
    subject: 'workspaces',
    from: ['suspended'],
    changes: z.strictObject({ confirm_name: shortText.describe('The name of the workspace, letter by letter.') }),
    roles: ['admin'],
    mode: 'async',
    whileSuspended: 'accepted',
    versionGuard: 'required',
    review: 'dual',
    reviewers,
    event: 'workspace.close_requested',
    hasRule: true,
    problems: ['validation_failed', 'state_not_allowed'],
    externalEffect:
      'Its podcasts are archived, its authority grants and machine keys revoked; then it is closed for good. Records stay, and commands that still wait for a review are refused.',
    summary: 'Closes a suspended workspace for good.',
  }),
  'workspace.complete_close': defineCommand({
    type: 'workspace.complete_close',
    subject: 'workspaces',
    from: ['suspended'],
    to: 'closed',
    changes: z.strictObject({}),
    machines: ['management'],
    settles: 'succeeded',
    settlesOf: ['workspace.close'],
    event: 'workspace.closed',
    summary: 'Everything in a closing workspace has ended.',
  }),
} as const;
