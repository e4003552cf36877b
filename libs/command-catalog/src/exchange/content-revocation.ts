import { schemas } from '@longwave/exchange-messages';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { reference, stateReason } from '../fields.ts';
import { messageSource } from './message-source.ts';

/** Content revocations: a platform takes one source version back. Nothing is deleted. */
export const contentRevocations = defineResource({
  type: 'content_revocations',
  noun: 'content_revocation',
  prefix: 'cvo',
  attributes: z.strictObject({
    ...messageSource,
    revocation: schemas['content-revocation/1'],
    /** The revoked source version, if it was accepted. */
    snapshot_id: reference('csn').optional(),
    state_reason: stateReason,
  }),
  states: ['accepted', 'applied'],
  terminalStates: ['applied'],
  links: {
    message_authority: { attribute: 'authority_id', type: 'authority_grants' },
    snapshot: { attribute: 'snapshot_id', type: 'content_snapshots' },
  },
  uniqueAttributes: [],
});

export const contentRevocationCommands = {
  'content_revocation.accept': defineCommand({
    type: 'content_revocation.accept',
    subject: 'content_revocations',
    to: 'accepted',
    changes: z.strictObject({ ...messageSource, revocation: schemas['content-revocation/1'] }),
    machines: ['hosting-exchange'],
    whileSuspended: 'accepted',
    event: 'content_revocation.accepted',
    hasRule: true,
    problems: ['key_revoked', 'state_not_allowed', 'policy_rejected'],
    externalEffect:
      'From 5 s after it takes effect, no play of the source version begins; with mode "stop_all", plays that have begun end, too.',
    summary: 'Takes the revocation of one source version, which cannot be undone.',
  }),
  'content_revocation.apply': defineCommand({
    type: 'content_revocation.apply',
    subject: 'content_revocations',
    from: ['accepted'],
    to: 'applied',
    changes: z.strictObject({ snapshot_id: reference('csn').optional() }),
    machines: ['management'],
    event: 'content_revocation.applied',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'The revocation is in effect.',
  }),
} as const;
