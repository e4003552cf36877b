import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { findArrangementByShortId, type StoredArrangement } from './play-table.ts';
import type { PlayTokens } from './play-token.ts';

/** A play that somebody has the address of. */
export interface FoundPlay {
  readonly arrangement: StoredArrangement;
  /** Absent for clean content that nobody decided. */
  readonly decisionId: string | undefined;
  /** Its token has expired. */
  readonly late: boolean;
}

/**
 * What the token of an arrangement leads to. Throws `resource_gone` for what was archived, and `not_found` for every token that is
 * not ours, has another purpose, or has expired while the episode is not public: the token governs counting, not access.
 */
export async function findPlay(pool: Pool, tokens: PlayTokens, token: string, at: Date): Promise<FoundPlay> {
  const address = tokens.openPlay(token, at);
  const found = address && (await findArrangementByShortId(pool, address.shortId));
  if (!found) throw new Problem('not_found');
  const { arrangement, standing } = found;
  if (standing === 'ended') throw new Problem('resource_gone');
  if (address.expired && standing === 'hidden') throw new Problem('not_found');
  return { arrangement, decisionId: address.decisionId, late: address.expired };
}
