import type { Attributes } from '@longwave/command-catalog';
import type { RuleInput } from '@longwave/command-pipeline';
import { requireSigningAuthority } from '../workspace/authority/signing-authority.ts';
import { lockSubject } from './subject-table.ts';

/** The part of a command or resource that says which signed message it applies. */
export type MessageSource = Pick<
  Attributes<'content_snapshots'>,
  'authority_id' | 'signed_by' | 'stream_id' | 'sequence' | 'message_digest' | 'source_id' | 'source_version'
>;

export const messageSourceOf = (changes: MessageSource): MessageSource => ({
  authority_id: changes.authority_id,
  signed_by: changes.signed_by,
  stream_id: changes.stream_id,
  sequence: changes.sequence,
  message_digest: changes.message_digest,
  source_id: changes.source_id,
  source_version: changes.source_version,
});

/**
 * Checks the authority of a message inside the transaction that applies it, and makes messages about one subject wait for each other. Throws
 * `state_not_allowed` or `key_revoked`.
 */
export async function holdMessage({
  tx,
  workspaceId,
  changes,
  now,
}: Pick<RuleInput<unknown, MessageSource>, 'tx' | 'workspaceId' | 'changes' | 'now'>): Promise<void> {
  const { authority_id: authorityId, signed_by: keyId, source_id: sourceId } = changes;
  await requireSigningAuthority(tx, { workspaceId, authorityId, keyId, now });
  await lockSubject(tx, authorityId, sourceId);
}
