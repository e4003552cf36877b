import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { KnownArrangements } from '../arrangements/known-arrangements.ts';
import { createLastKnown } from '../projection/last-known.ts';
import { hasEnded, type BegunPlay } from './ended-plays.ts';
import { getVisibility, type Visibility } from '../projection/visibility-table.ts';
import type { StoredArrangement } from '../arrangements/arrangement-table.ts';
import type { PlayTokens } from './play-token.ts';

/** A play that somebody has the address of. */
interface FoundPlay {
  readonly arrangement: StoredArrangement;
  /** Absent for clean content that nobody decided. */
  readonly decisionId: string | undefined;
  readonly begun: BegunPlay;
  /** Its token has expired. */
  readonly late: boolean;
}

export type FindPlay = (token: string, at: Date) => Promise<FoundPlay>;

/** Episodes whose standing is remembered for when the database is away. */
const maxStandings = 10_000;

/**
 * Finds what the token of an arrangement leads to. Rejects with `resource_gone` for what was archived or ended for
 * everybody, and with `not_found` for every
 * token that is not ours, has another purpose, or has expired while the episode is not public: the token governs counting, not access.
 * While the database is away, an episode stands as it did last.
 */
export function createFindPlay(
  pool: Pool,
  arrangements: KnownArrangements,
  tokens: Pick<PlayTokens, 'openPlay'>,
): FindPlay {
  const lastStanding = createLastKnown<Visibility>(maxStandings);
  return async (token, at) => {
    const address = tokens.openPlay(token, at);
    const arrangement = address && (await arrangements.find(address.shortId));
    if (!arrangement) throw new Problem('not_found');
    const { kind, playsEnd } = await lastStanding(arrangement.episodeId, () =>
      getVisibility(pool, arrangement.episodeId),
    );
    if (kind === 'ended') throw new Problem('resource_gone');
    if (address.expired && kind === 'hidden') throw new Problem('not_found');
    const { startedAt, decisionId, expired: late } = address;
    const begun = { startedAt, isBound: decisionId !== undefined, parts: arrangement.document.parts };
    if (hasEnded(begun, playsEnd)) throw new Problem('resource_gone');
    return { arrangement, decisionId, begun, late };
  };
}
