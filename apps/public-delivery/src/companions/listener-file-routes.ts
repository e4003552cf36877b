import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { IdentifyListener } from '../listeners/identify-listener.ts';
import type { FindListenersPlay } from '../plays/find-listeners-play.ts';
import { stretchesOf, stretchesWithoutAds } from '../arrangements/time-map.ts';
import { findCompanionsByAlias } from '../projection/content-table.ts';
import { sendChapters, sendTranscript } from './companion-files.ts';
import { parameter, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';

export interface ListenerFileRoutesOptions {
  readonly pool: Pool;
  readonly store: Pick<ObjectStore, 'get'>;
  readonly identify: IdentifyListener;
  readonly findListenersPlay: FindListenersPlay;
}

/** Another listener gets other times. */
const cacheControl = 'private, no-store';

/**
 * Chapters and transcripts as a feed names them, beside the enclosure: at the times of the file that the asking listener was given,
 * or of the file without ads when nobody can tell which one that is. Asking for one decides nothing and binds nothing.
 */
export function listenerFileRoutes({
  pool,
  store,
  identify,
  findListenersPlay,
}: ListenerFileRoutesOptions): readonly Route[] {
  async function find(exchange: Exchange) {
    const { request, startedAt } = exchange;
    const companions = await findCompanionsByAlias(pool, parameter(exchange, 'alias', tokenShape));
    if (!companions) throw new Problem('not_found');
    if (companions === 'ended') throw new Problem('resource_gone');
    const play = await findListenersPlay(companions.episodeId, identify(request, startedAt), startedAt);
    return { companions, stretches: play ? stretchesOf(play.document) : stretchesWithoutAds(companions.introMs) };
  }

  return [
    {
      name: 'listener_chapters.read',
      path: '/delivery/v1/e/:alias/chapters.json',
      get: async (exchange) => {
        const { companions, stretches } = await find(exchange);
        if (companions.chapters.length === 0) throw new Problem('not_found');
        await sendChapters(exchange, companions, stretches, cacheControl);
      },
    },
    {
      name: 'listener_transcript.read',
      path: '/delivery/v1/e/:alias/transcript.:format',
      get: async (exchange) => {
        const { companions, stretches } = await find(exchange);
        await sendTranscript(exchange, store, companions, stretches, cacheControl);
      },
    },
  ];
}
