import type { Attributes } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';

export type Snapshot = Attributes<'content_snapshots'>;

/** The subject of a platform that a version is one of. */
export const subjectOfSnapshot = (
  workspaceId: string,
  { authority_id: authorityId, source_id: sourceId }: Pick<Snapshot, 'authority_id' | 'source_id'>,
) => ({ workspaceId, authorityId, sourceId });

/** Whether the time for which the platform grants its rights is over. */
export function areRightsOver({ content }: Pick<Snapshot, 'content'>, now: Date): boolean {
  const until = content.episode.rights?.until;
  return until !== undefined && Date.parse(until) <= now.getTime();
}

/** SHA-256 in hex of a digest as messages write it. */
export const hexOf = (digest: string): string => digest.slice('sha256:'.length);

/** Throws `state_not_allowed` with a sentence. */
export function refuseState(detail: string): never {
  throw new Problem('state_not_allowed', detail);
}
