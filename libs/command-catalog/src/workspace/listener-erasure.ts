import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { foundProblem, instant, leaseReason, reference } from '../fields.ts';

/** Names a request in the workspace's own files. It is kept for ever, so no address of a person or a network fits into it. */
const requestReference = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9 _/#-]{0,99}$/,
    'Write the number of the request in your files: letters, digits, spaces and _ / # -, at most 100.',
  );

/** Whose data: it is kept for ever, and names nobody once the erasure has ended. */
const selector = {
  /** Decisions of plays, such as those that traces and lists of decisions name. */
  decision_ids: z.array(reference('dec')).min(1).max(100).optional(),
  /** Pseudonyms of listeners, or of another party's listeners. Those of neighbouring months are found. */
  listener_keys: z
    .array(z.string().regex(/^([0-9a-f]{32}|[0-9a-f]{64})$/, 'This is not a listener key.'))
    .min(1)
    .max(50)
    .optional(),
};

/** What was done. */
const result = {
  /** Rows that have no listener, or another key, now: of each table that had any. */
  erased: z
    .array(z.strictObject({ store: z.string().max(64), table: z.string().max(64), rows: z.int().min(1) }))
    .max(100),
  /** Decisions that no stored binding of the workspace has. */
  unknown_decisions: z.int().min(0),
  /** Listener keys that stay until the facts expire (docs/privacy.md#what-cannot-be-erased). */
  kept_listeners: z.int().min(0),
};

/** Erasures: privacy requests of listeners (docs/privacy.md). */
export const listenerErasures = defineResource({
  type: 'listener_erasures',
  noun: 'listener_erasure',
  commandNoun: 'listener_data',
  prefix: 'lde',
  attributes: z.strictObject({
    request_reference: requestReference,
    ...selector,
    ...z.strictObject(result).partial().shape,
    finished_at: instant.optional(),
    problem: foundProblem.optional(),
  }),
  states: ['requested', 'erasing', 'erased', 'failed'],
  terminalStates: ['erased', 'failed'],
  links: {},
  uniqueAttributes: [],
});

const base = { subject: 'listener_erasures', hasRule: true } as const;
const report = { ...base, reason: leaseReason, machines: ['management'], problems: ['lease_lost'] } as const;

export const listenerErasureCommands = {
  'listener_data.erase': defineCommand({
    ...base,
    type: 'listener_data.erase',
    to: 'requested',
    changes: z
      .strictObject({ request_reference: requestReference, ...selector })
      .refine((changes) => changes.decision_ids !== undefined || changes.listener_keys !== undefined, {
        message: 'Name decision_ids or listener_keys.',
      }),
    roles: ['admin'],
    problems: ['rate_limited'],
    review: 'dual',
    reviewers: ['reviewer', 'admin'],
    // A listener's right does not wait for a workspace's bill.
    whileSuspended: 'accepted',
    // Nor does it end with the workspace: its data is kept for longer.
    whileClosed: 'operator',
    mode: 'async',
    event: 'listener_erasure.requested',
    externalEffect:
      'Plays, facts and frequency records of the workspace no longer tell which of them are of one listener.',
    summary:
      'Erases the pseudonyms of listeners in everything that the workspace has of them; numbers, bills and decisions stay.',
  }),
  'listener_erasure.begin': defineCommand({
    ...report,
    type: 'listener_erasure.begin',
    from: ['requested'],
    to: 'erasing',
    changes: z.strictObject({}),
    event: 'listener_erasure.started',
    summary: 'A worker has begun to erase.',
  }),
  'listener_erasure.record': defineCommand({
    ...report,
    type: 'listener_erasure.record',
    from: ['erasing'],
    to: 'erased',
    changes: z.strictObject(result),
    settles: 'succeeded',
    event: 'listener_erasure.recorded',
    summary: 'Every store has erased the listeners; records how many rows.',
  }),
  'listener_erasure.fail': defineCommand({
    ...report,
    type: 'listener_erasure.fail',
    from: ['requested', 'erasing'],
    to: 'failed',
    changes: z.strictObject({ problem: foundProblem }),
    settles: 'failed',
    event: 'listener_erasure.failed',
    summary: 'A store could not be asked; records the reason. What was erased stays erased.',
  }),
} as const;
