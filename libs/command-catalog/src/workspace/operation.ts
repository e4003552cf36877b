import { roles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { shortText } from '../fields.ts';

/**
 * Operations as the subject of commands. They are no type of a catalog: an operation has no revisions and stands in no list of resources. Its
 * version counts its states, and it is read under its own address.
 */
export const operations = defineResource({
  type: 'operations',
  noun: 'operation',
  prefix: 'op',
  attributes: z.strictObject({
    command_type: z.string(),
    /** The subject of its command. */
    subject: z.strictObject({ type: z.string(), id: z.string(), version: z.int() }),
    state_reason: shortText.optional(),
  }),
  states: ['accepted', 'running', 'waiting_review', 'succeeded', 'failed', 'cancelled'],
  terminalStates: ['succeeded', 'failed', 'cancelled'],
  links: {},
  uniqueAttributes: [],
});

export const operationCommands = {
  'operation.cancel': defineCommand({
    type: 'operation.cancel',
    subject: 'operations',
    from: ['accepted', 'running', 'waiting_review'],
    to: 'cancelled',
    changes: z.strictObject({ cause: shortText }),
    roles: roles.filter((role) => role !== 'viewer'),
    whileSuspended: 'accepted',
    event: 'operation.cancelled',
    consequences: [
      'review.withdrawn',
      'production.stopped',
      'batch_encoding.cancelled',
      'report_run.cancelled',
      'podcast.import_cancelled',
      'statistics_export.cancelled',
      'creative.media_cancelled',
      'billing_statement.discarded',
      'reconciliation.cancelled',
      'forecast.cancelled',
    ],
    problems: ['permission_denied', 'state_not_allowed'],
    externalEffect: 'What the operation began is stopped.',
    summary:
      'Cancels the operation of a command that waits for a review, or whose work can be ended; for whoever requested it, and for admins.',
  }),
} as const;
