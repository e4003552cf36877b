import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { KnownArrangements } from '../arrangements/known-arrangements.ts';
import { createLastKnown } from '../projection/last-known.ts';
import { hasEnded, type BegunPlay } from './ended-plays.ts';
import { getVisibility, type Visibility } from '../projection/visibility-table.ts';
import type { StoredArrangement } from '../arrangements/arrangement-table.ts';
import type { PlayTokens } from './play-token.ts';

/** The play of a token. */
interface FoundPlay {
  readonly arrangement: StoredArrangement;
  /** Absent for clean content that nobody decided. */
  readonly decisionId: string | undefined;
  readonly begun: BegunPlay;
  /** Its token has expired. */
  readonly late: boolean;
}

export type FindPlay = (token: string, at: Date) => Promise<FoundPlay>;

/** Episodes whose visibility is remembered for when the database is away. */
const maxVisibilities = 10_000;

/**
 * Finds the play of an arrangement's token. Rejects with `resource_gone` for a play that was archived or ended for everybody, and with
 * `not_found` for every token that is not ours, has another purpose, or has expired while the episode is not public: an expired token
 * of a public episode still opens. While the database is away, the visibility read last applies.
 */
export function createFindPlay(
  pool: Pool,
  arrangements: KnownArrangements,
  tokens: Pick<PlayTokens, 'openPlay'>,
): FindPlay {
  const lastVisibility = createLastKnown<Visibility>(maxVisibilities);
  return async (token, at) => {
    const address = tokens.openPlay(token, at);
    const arrangement = address && (await arrangements.find(address.shortId));
    if (!arrangement) throw new Problem('not_found');
    const { kind, playsEnd } = await lastVisibility(arrangement.episodeId, () =>
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
