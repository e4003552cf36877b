import { findResource, holdResource } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';

const refuseKey = (detail: string): never => {
  throw new Problem('key_revoked', detail);
};

/**
 * Keeps the authority of a signed message, and the key that signed it, as they are until the transaction ends, so that none of them ends
 * between the check of the message and its effect. Throws `state_not_allowed` unless the authority grant is active, and `key_revoked`
 * unless the key belongs to it and holds now.
 */
export async function requireSigningAuthority(
  tx: Transaction,
  signed: {
    readonly workspaceId: string;
    readonly authorityId: string;
    readonly keyId: string;
    readonly now: Date;
  },
): Promise<void> {
  const { workspaceId, authorityId, keyId, now } = signed;
  const isOver = (time: string | undefined) => time !== undefined && Date.parse(time) <= now.getTime();
  await holdResource(tx, workspaceId, 'authority_grants', authorityId);
  const authority = await findResource(tx, workspaceId, 'authority_grants', authorityId);
  if (authority?.lifecycle_state !== 'active' || isOver(authority.attributes.expires_at))
    throw new Problem('state_not_allowed', 'The authority grant of this message is not active.');
  await holdResource(tx, workspaceId, 'machine_keys', keyId);
  const key = await findResource(tx, workspaceId, 'machine_keys', keyId);
  if (key?.attributes.authority_id !== authorityId) return refuseKey('The key does not belong to this authority.');
  if (!['active', 'retiring'].includes(key.lifecycle_state))
    return refuseKey(`The key is ${key.lifecycle_state}, and signs nothing.`);
  const { not_before: from, not_after: until, overlap_until: overlap } = key.attributes;
  if (!isOver(from)) return refuseKey('The time of this key has not come.');
  if (isOver(until) || isOver(overlap)) return refuseKey('The time of this key is over.');
}
