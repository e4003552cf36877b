import type { Pool } from '@longwave/postgres';
import type { AppTrace } from '../listeners/app-trace.ts';
import type { Listener } from '../listeners/identify-listener.ts';
import { chooseBoundPlay } from './choose-bound-play.ts';
import { bindingMs } from './bound-plays.ts';
import type { KnownArrangements } from '../arrangements/known-arrangements.ts';
import { hasEnded } from './ended-plays.ts';
import { findBindingsOfAddress, type Binding } from './binding-table.ts';
import { getVisibility } from '../projection/visibility-table.ts';
import type { StoredArrangement } from '../arrangements/arrangement-table.ts';

/** The part of a listener that tells its play. */
type PlayAsker = Pick<Listener, 'key' | 'previousKey' | 'addressKeys' | 'userAgent'>;

/**
 * Finds the file that a listener was given within the last 24 h, unless it was ended for everybody, by address and user agent; undefined
 * when these do not tell it from others.
 */
export type FindListenersPlay = (
  episodeId: string,
  listener: PlayAsker,
  at: Date,
) => Promise<StoredArrangement | undefined>;

/** Finds plays for documents that are asked for without a token. Rejects when the database does not answer. */
export const createFindListenersPlay =
  (pool: Pool, arrangements: KnownArrangements, traceApp: (userAgent: string) => AppTrace): FindListenersPlay =>
  async (episodeId, { key, previousKey, addressKeys, userAgent }, at) => {
    const since = new Date(at.getTime() - bindingMs);
    const [bindings, { playsEnd }] = await Promise.all([
      findBindingsOfAddress(pool, addressKeys, episodeId, since),
      getVisibility(pool, episodeId),
    ]);
    const isOver = async ({ arrangementId, startedAt }: Binding) => {
      const parts = (await arrangements.find(arrangementId))?.document.parts ?? [];
      return hasEnded({ startedAt, isBound: true, parts }, playsEnd);
    };
    const over = playsEnd.before ? await Promise.all(bindings.map(isOver)) : [];
    const candidates = bindings.filter((_, at) => over[at] !== true);
    const listenerKeys = previousKey === undefined ? [key] : [key, previousKey];
    const chosen = chooseBoundPlay({ listenerKeys, ...traceApp(userAgent) }, candidates);
    return chosen === undefined ? undefined : arrangements.find(chosen);
  };
