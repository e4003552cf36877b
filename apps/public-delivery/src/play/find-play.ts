import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { KnownArrangements } from './known-arrangements.ts';
import { getStanding, type StoredArrangement } from './play-table.ts';
import type { PlayTokens } from './play-token.ts';

/** A play that somebody has the address of. */
export interface FoundPlay {
  readonly arrangement: StoredArrangement;
  /** Absent for clean content that nobody decided. */
  readonly decisionId: string | undefined;
  /** Its token has expired. */
  readonly late: boolean;
}

export type FindPlay = (token: string, at: Date) => Promise<FoundPlay>;

/**
 * Finds what the token of an arrangement leads to. Rejects with `resource_gone` for what was archived, and with `not_found` for every
 * token that is not ours, has another purpose, or has expired while the episode is not public: the token governs counting, not access.
 */
export const createFindPlay =
  (pool: Pool, arrangements: KnownArrangements, tokens: Pick<PlayTokens, 'openPlay'>): FindPlay =>
  async (token, at) => {
    const address = tokens.openPlay(token, at);
    const arrangement = address && (await arrangements.find(address.shortId));
    if (!arrangement) throw new Problem('not_found');
    const standing = await getStanding(pool, arrangement);
    if (standing === 'ended') throw new Problem('resource_gone');
    if (address.expired && standing === 'hidden') throw new Problem('not_found');
    return { arrangement, decisionId: address.decisionId, late: address.expired };
  };
