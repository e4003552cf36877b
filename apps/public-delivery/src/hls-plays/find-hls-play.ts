import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { LRUCache } from 'lru-cache';
import { hasEnded, type BegunPlay } from '../plays/ended-plays.ts';
import { bindingMs } from '../plays/bound-plays.ts';
import { findHlsPlay, type HlsPlay } from '../plays/hls-play-table.ts';
import type { OpenPresentation, OpenPresentations } from '../presentations/open-presentation.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';

/** A play by HLS with its presentation. */
export interface FoundHlsPlay {
  readonly play: HlsPlay;
  readonly presentation: OpenPresentation;
  readonly begun: BegunPlay;
  /** It was opened 24 h ago or earlier. */
  readonly late: boolean;
}

/**
 * Finds the play that a token names. Rejects with `resource_gone` for one that was archived or ended for everybody, with `not_found` for
 * one that is not there. One of an
 * episode that was hidden since goes on for the 24 h of its window. While the database is away, the visibility read last applies.
 */
export type FindHlsPlay = (playId: string, at: Date) => Promise<FoundHlsPlay>;

/** Whose a token is, on the service's clock, which tests turn, and on the machine's. */
interface Remembered {
  readonly playId: string;
  readonly at: Date;
  readonly checkedMs: number;
}

/**
 * Opens the token of a play, once a second for each token, because a player asks for ten segments a minute, and finds the play. Undefined for
 * a token that does not open.
 */
export function createOpenHlsToken(
  open: (token: string, at: Date) => { readonly playId: string } | undefined,
  find: FindHlsPlay,
): (token: string, at: Date) => Promise<FoundHlsPlay | undefined> {
  const remembered = new LRUCache<string, Remembered>({ max: maxPlays });
  return async (token, at) => {
    const last = remembered.get(token);
    const nowMs = performance.now();
    if (last && nowMs - last.checkedMs < checkedForMs && Math.abs(at.getTime() - last.at.getTime()) < checkedForMs)
      return find(last.playId, at);
    const opened = open(token, at);
    if (!opened) return undefined;
    remembered.set(token, { playId: opened.playId, at, checkedMs: nowMs });
    return find(opened.playId, at);
  };
}

/** Plays never change; the last ones stay in memory, so that they go on without the database. */
const maxPlays = 10_000;
/** A revoked key is noticed this late at most. */
const checkedForMs = 1_000;

export interface FindHlsPlayOptions {
  readonly pool: Pool;
  readonly presentations: Pick<OpenPresentations, 'find'>;
  readonly projection: Pick<RecentProjection, 'getVisibility'>;
}

export function createFindHlsPlay({ pool, presentations, projection }: FindHlsPlayOptions): FindHlsPlay {
  const known = new LRUCache<string, HlsPlay>({ max: maxPlays });

  async function findPlay(playId: string): Promise<HlsPlay> {
    const play = known.get(playId) ?? (await findHlsPlay(pool, playId));
    if (!play) throw new Problem('not_found');
    known.set(playId, play);
    return play;
  }

  return async (playId, at) => {
    const play = await findPlay(playId);
    const [presentation, { kind, playsEnd }] = await Promise.all([
      presentations.find(play.presentation),
      projection.getVisibility(play.episodeId, at),
    ]);
    if (!presentation) throw new Error(`presentation ${play.presentation} is missing`);
    if (kind === 'ended') throw new Problem('resource_gone');
    const late = at.getTime() - play.openedAt.getTime() >= bindingMs;
    if (kind === 'hidden' && late) throw new Problem('not_found');
    const parts = [{ blob: presentation.renditionDigest }];
    const begun = { startedAt: play.openedAt, isBound: true, parts };
    if (hasEnded(begun, playsEnd)) throw new Problem('resource_gone');
    return { play, presentation, begun, late };
  };
}
