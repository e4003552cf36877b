import type { Reactions } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../background/send-as-management.ts';
import { applyRevocation } from './content/follow-revocations.ts';
import {
  failWithEncoding,
  hostEncoded,
  hostMapped,
  replaceWaiting,
  stopEncodingOf,
  unpublishLapsed,
} from './content/follow-snapshots.ts';
import { supersedeEvidence } from './evidence/follow-evidence.ts';
import { retireFormerKey } from './follow-rotations.ts';

/** Reactions to what the messages of hosting platforms have made. */
export const exchangeReactions = (deps: {
  readonly send: Send;
  readonly pool: Pool;
  readonly clock: () => Date;
}): Reactions<Promise<void>> => ({
  'content_snapshot.accepted': (event) => replaceWaiting(event, deps),
  'content_snapshot.mapped': (event) => hostMapped(event, deps),
  'content_snapshot.superseded': (event) => stopEncodingOf(event, deps),
  'content_snapshot.revoked': (event) => stopEncodingOf(event, deps),
  'content_snapshot.lapsed': (event) => unpublishLapsed(event, deps),
  'content_revocation.accepted': (event) => applyRevocation(event, deps),
  'production.encoded': (event) => hostEncoded(event, deps),
  'production.failed': (event) => failWithEncoding(event, deps),
  'production.stopped': (event) => failWithEncoding(event, deps),
  'production.deleted': (event) => failWithEncoding(event, deps),
  'platform_evidence.accepted': (event) => supersedeEvidence(event, deps.send, deps.pool),
  'authority_grant.rotated': (event) => retireFormerKey(event, deps),
});
