import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import type { BegunPlay } from '../plays/ended-plays.ts';
import type { FindPlay } from '../plays/find-play.ts';
import { findBindingByDecision } from '../plays/binding-table.ts';
import { playMedia, type SentAudio } from './sent-media.ts';

/** The audio that the token of an arrangement leads to. */
export interface OpenPlay {
  readonly media: SentAudio;
  readonly begun: Omit<BegunPlay, 'parts'>;
  /** The token has expired. */
  readonly late: boolean;
  /** Where in a trace the play was bound; absent outside of traces. */
  readonly traceparent?: string | undefined;
}

const maxPlays = 2_000;
/** An archived episode, a revoked key and an expired token are noticed this late at most. */
const checkedForMs = 1_000;

interface Remembered {
  readonly play: OpenPlay;
  /** On the service's clock, which tests turn, and on the machine's. */
  readonly at: Date;
  readonly checkedMs: number;
}

/** Rejects as `findPlay` does. */
export type OpenPlays = (token: string, at: Date) => Promise<OpenPlay>;

/**
 * Opens tokens of arrangements. Their audio never changes, so the last ones are remembered: a listener who takes an episode in small
 * ranges costs one question to the database per second, for the visibility of the episode.
 */
export function createOpenPlays(pool: Pool, findPlay: FindPlay): OpenPlays {
  const remembered = new LRUCache<string, Remembered>({ max: maxPlays });

  async function openAnew(token: string, at: Date, known: OpenPlay | undefined): Promise<OpenPlay> {
    const { arrangement, decisionId, begun, late } = await findPlay(token, at);
    if (known) return { ...known, late };
    const binding = decisionId === undefined ? undefined : await findBindingByDecision(pool, decisionId);
    const media = playMedia({ arrangement, binding }, 'private, max-age=86400');
    return { media, begun, late, traceparent: binding?.traceparent };
  }

  return async (token, at) => {
    const last = remembered.get(token);
    const nowMs = performance.now();
    const agesMs = last && [nowMs - last.checkedMs, Math.abs(at.getTime() - last.at.getTime())];
    if (last && agesMs?.every((age) => age < checkedForMs)) return last.play;
    const play = await openAnew(token, at, last?.play);
    remembered.set(token, { play, at, checkedMs: nowMs });
    return play;
  };
}
