import { schemas } from '@longwave/exchange-messages';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { foundProblem, reference, stateReason } from '../fields.ts';
import { messageSource } from './message-source.ts';

/** The evidence without its rows, which analytics-sink keeps apart from our own facts. */
const evidence = schemas['platform-evidence/1'].omit({ rows: true, x: true });

/** Platform evidence: numbers of another platform under its own name. They never enter our counts. */
export const platformEvidence = defineResource({
  type: 'platform_evidence',
  noun: 'platform_evidence_report',
  commandNoun: 'platform_evidence',
  prefix: 'pev',
  attributes: z.strictObject({
    ...messageSource,
    evidence,
    /** Known when the rows are there. */
    row_count: z.int().min(0).optional(),
    problem: foundProblem.optional(),
    state_reason: stateReason,
  }),
  states: ['received', 'ready', 'failed', 'superseded'],
  terminalStates: ['superseded'],
  links: { message_authority: { attribute: 'authority_id', type: 'authority_grants' } },
  uniqueAttributes: [],
});

export const platformEvidenceCommands = {
  'platform_evidence.accept': defineCommand({
    type: 'platform_evidence.accept',
    subject: 'platform_evidence',
    to: 'received',
    changes: z.strictObject({ ...messageSource, evidence }),
    machines: ['hosting-exchange'],
    event: 'platform_evidence.accepted',
    hasRule: true,
    problems: ['key_revoked', 'state_not_allowed', 'value_taken'],
    externalEffect: 'Its rows are imported, under the name of their source.',
    summary: 'Takes delivery, revenue or engagement numbers of a platform.',
  }),
  'platform_evidence.record_ready': defineCommand({
    type: 'platform_evidence.record_ready',
    subject: 'platform_evidence',
    from: ['received'],
    to: 'ready',
    changes: z.strictObject({ row_count: z.int().min(0) }),
    machines: ['hosting-exchange'],
    event: 'platform_evidence.imported',
    summary: 'The rows are imported.',
  }),
  'platform_evidence.record_failed': defineCommand({
    type: 'platform_evidence.record_failed',
    subject: 'platform_evidence',
    from: ['received'],
    to: 'failed',
    changes: z.strictObject({ problem: foundProblem }),
    machines: ['hosting-exchange'],
    event: 'platform_evidence.failed',
    summary: 'The rows cannot be fetched or read, or are not those that the digest names.',
  }),
  'platform_evidence.supersede': defineCommand({
    type: 'platform_evidence.supersede',
    subject: 'platform_evidence',
    from: ['received', 'ready', 'failed'],
    to: 'superseded',
    changes: z.strictObject({ successor_id: reference('pev') }),
    machines: ['management'],
    event: 'platform_evidence.superseded',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'A later revision of the same source, kind and period has taken its place.',
  }),
} as const;
