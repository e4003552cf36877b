import type { Pool } from '@longwave/postgres';
import type { AppTrace } from '../listener/app-trace.ts';
import type { Listener } from '../listener/identify-listener.ts';
import { chooseBoundPlay } from './choose-bound-play.ts';
import { bindingMs } from './choose-play.ts';
import type { KnownArrangements } from './known-arrangements.ts';
import { findBindingsOfAddress, type StoredArrangement } from './play-table.ts';

/** Who asks, as far as it tells which play is theirs. */
export type PlayAsker = Pick<Listener, 'key' | 'previousKey' | 'addressKeys' | 'userAgent'>;

/** The file that a listener was given within the last 24 h, as far as address and user agent tell; undefined where they do not. */
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
    const candidates = await findBindingsOfAddress(pool, addressKeys, episodeId, since);
    const listenerKeys = previousKey === undefined ? [key] : [key, previousKey];
    const chosen = chooseBoundPlay({ listenerKeys, ...traceApp(userAgent) }, candidates);
    return chosen === undefined ? undefined : arrangements.find(chosen);
  };
