import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import type { ServingTokens } from '../reports/serving-token.ts';
import type { FindPlay } from '../plays/find-play.ts';
import { findBindingByDecision, type Binding } from '../plays/binding-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import { stretchesOf } from '../arrangements/time-map.ts';
import { timelineOf, type SlotAddresses } from './timeline-document.ts';
import { getCompanions } from '../projection/content-table.ts';
import { sendChapters, sendMade, sendTranscript } from './companion-files.ts';
import { parameter, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';

export interface PlayFileRoutesOptions {
  readonly pool: Pool;
  readonly store: Pick<ObjectStore, 'get'>;
  readonly findPlay: FindPlay;
  readonly servingTokens: ServingTokens;
  readonly projection: Pick<RecentProjection, 'findReportTokenDays'>;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}

const cacheControl = 'private, max-age=300';

/**
 * Chapters, transcripts and the timeline of one play, at the times of its file and under the token of its audio. Chapters and
 * transcripts are those that the episode has now.
 */
export function playFileRoutes({
  pool,
  store,
  findPlay,
  servingTokens,
  projection,
  mediaUrl,
}: PlayFileRoutesOptions): readonly Route[] {
  const playOf = (exchange: Exchange) => findPlay(parameter(exchange, 'token', tokenShape), exchange.startedAt);
  const documentOf = async (exchange: Exchange) => (await playOf(exchange)).arrangement.document;

  function addressesOf(
    { ads, decisionId, startedAt }: Binding,
    slotName: string,
    lifeDays: number | undefined,
  ): SlotAddresses {
    const ad = ads[slotName];
    if (!ad) return {};
    const token = (purpose: 'evt' | 'clk') =>
      servingTokens.mint(purpose, { servingId: ad.serving_id, decisionId }, startedAt, lifeDays);
    return {
      event_url: `${mediaUrl}/delivery/v1/ev/${token('evt')}`,
      ...(ad.click_url !== undefined && { click_url: `${mediaUrl}/delivery/v1/k/${token('clk')}` }),
    };
  }

  return [
    {
      name: 'play_chapters.read',
      path: '/delivery/v1/p/:token/chapters.json',
      get: async (exchange) => {
        const document = await documentOf(exchange);
        const companions = await getCompanions(pool, document.episode_id);
        await sendChapters(exchange, companions, stretchesOf(document), cacheControl);
      },
    },
    {
      name: 'play_transcript.read',
      path: '/delivery/v1/p/:token/transcript.:format',
      get: async (exchange) => {
        const document = await documentOf(exchange);
        const companions = await getCompanions(pool, document.episode_id);
        await sendTranscript(exchange, store, companions, stretchesOf(document), cacheControl);
      },
    },
    {
      name: 'play_timeline.read',
      path: '/delivery/v1/p/:token/timeline.json',
      get: async (exchange) => {
        const { arrangement, decisionId } = await playOf(exchange);
        const binding = decisionId === undefined ? undefined : await findBindingByDecision(pool, decisionId);
        const { document } = arrangement;
        const lifeDays = binding && (await projection.findReportTokenDays(document.episode_id, exchange.startedAt));
        const timeline = timelineOf(document, (slot) => (binding ? addressesOf(binding, slot, lifeDays) : {}));
        await sendMade(exchange, Buffer.from(JSON.stringify(timeline), 'utf8'), 'application/json', cacheControl);
      },
    },
  ];
}
