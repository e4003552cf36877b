import { createHash } from 'node:crypto';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { renderTranscript, transcriptFormats, type TranscriptFormat } from '@longwave/transcript';
import type { ServingTokens } from '../events/serving-token.ts';
import type { FindPlay } from '../play/find-play.ts';
import { findBindingByDecision, type Binding } from '../play/play-table.ts';
import { retimeTranscript } from '../play/retime-transcript.ts';
import { createTimeMap, stretchesOf } from '../play/time-map.ts';
import { timelineOf, type SlotAddresses } from '../play/timeline-document.ts';
import { chaptersContentType, renderChaptersDocument } from '../projection/chapters-document.ts';
import { getCompanions } from '../projection/content-table.ts';
import { parameter } from './parameter.ts';
import type { Exchange, Route } from './route.ts';
import { sendDocument } from './send-file.ts';
import { readTranscript, transcriptHeader } from './transcript-file.ts';

export interface PlayFileRoutesOptions {
  readonly pool: Pool;
  readonly store: Pick<ObjectStore, 'get'>;
  readonly findPlay: FindPlay;
  readonly servingTokens: ServingTokens;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}

const tokenShape = /^t1\.[A-Za-z0-9_-]{40,400}$/;
const formatShape = new RegExp(`^(${transcriptFormats.join('|')})$`);
const languageShape = /^[A-Za-z0-9-]{1,35}$/;

/** The transcript of a language or of one of its variants ("pt" finds "pt-BR", RFC 4647 §3.3.1); without a language the first. */
function choose<T extends { readonly language: string }>(transcripts: readonly T[], wanted: unknown): T | undefined {
  if (wanted === undefined) return transcripts[0];
  if (typeof wanted !== 'string' || !languageShape.test(wanted)) return undefined;
  const range = wanted.toLowerCase();
  return transcripts.find(({ language }) => `${language.toLowerCase()}-`.startsWith(`${range}-`));
}

/**
 * What goes with the file of one play, at the times of that very file: chapters, transcripts and the timeline, under the token that
 * the audio has. Chapters and transcripts are those that the episode has now.
 */
export function playFileRoutes({
  pool,
  store,
  findPlay,
  servingTokens,
  mediaUrl,
}: PlayFileRoutesOptions): readonly Route[] {
  const playOf = (exchange: Exchange) => findPlay(parameter(exchange, 'token', tokenShape), exchange.startedAt);
  const documentOf = async (exchange: Exchange) => (await playOf(exchange)).arrangement.document;

  function addressesOf({ ads, decisionId, startedAt }: Binding, slotName: string): SlotAddresses {
    const ad = ads[slotName];
    if (!ad) return {};
    const token = (purpose: 'evt' | 'clk') =>
      servingTokens.mint(purpose, { servingId: ad.serving_id, decisionId }, startedAt);
    return {
      event_url: `${mediaUrl}/delivery/v1/ev/${token('evt')}`,
      ...(ad.click_url !== undefined && { click_url: `${mediaUrl}/delivery/v1/k/${token('clk')}` }),
    };
  }

  function send(exchange: Exchange, bytes: Buffer, contentType: string): Promise<void> {
    const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;
    return sendDocument(exchange, bytes, etag, {
      'content-type': contentType,
      'cache-control': 'private, max-age=300',
    });
  }

  return [
    {
      name: 'play_chapters.read',
      path: '/delivery/v1/p/:token/chapters.json',
      serve: async (exchange) => {
        const document = await documentOf(exchange);
        const { chapters } = await getCompanions(pool, document.episode_id);
        const times = createTimeMap(stretchesOf(document));
        await send(exchange, renderChaptersDocument(chapters, times), chaptersContentType);
      },
    },
    {
      name: 'play_transcript.read',
      path: '/delivery/v1/p/:token/transcript.:format',
      serve: async (exchange) => {
        const format = parameter(exchange, 'format', formatShape) as TranscriptFormat;
        const document = await documentOf(exchange);
        const { transcripts } = await getCompanions(pool, document.episode_id);
        const chosen = choose(transcripts, exchange.request.query['lang']);
        if (!chosen) throw new Problem('not_found');
        const transcript = retimeTranscript(await readTranscript(store, chosen.storage_key), stretchesOf(document));
        const bytes = Buffer.from(renderTranscript(format, transcript), 'utf8');
        await send(exchange, bytes, transcriptHeader(format));
      },
    },
    {
      name: 'play_timeline.read',
      path: '/delivery/v1/p/:token/timeline.json',
      serve: async (exchange) => {
        const { arrangement, decisionId } = await playOf(exchange);
        const binding = decisionId === undefined ? undefined : await findBindingByDecision(pool, decisionId);
        const timeline = timelineOf(arrangement.document, (slot) => (binding ? addressesOf(binding, slot) : {}));
        await send(exchange, Buffer.from(JSON.stringify(timeline), 'utf8'), 'application/json');
      },
    },
  ];
}
