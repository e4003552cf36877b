import type { OutgoingHttpHeaders } from 'node:http';
import { joinTrace, meter } from '@longwave/service-kit';
import type { PartSource } from '../arrangements/part-source.ts';
import { arrangedMedia } from '../arrangements/arranged-media.ts';
import { sendMedia } from '../arrangements/send-media.ts';
import { countedFileOf, type MeteredResponse } from '../arrangements/written-meter.ts';
import type { FactSink } from '../facts/fact-sink.ts';
import type { Exchange } from '../http/route.ts';
import type { IdentifyListener, Listener } from '../listeners/identify-listener.ts';
import type { OnlyLooks } from '../listeners/only-looks.ts';
import type { Play } from '../plays/bound-plays.ts';
import type { ChoosePlay } from '../plays/choose-play.ts';
import type { PlayTokens } from '../plays/play-token.ts';
import type { ResumePlay } from '../plays/resume-play.ts';
import type { RunningPlays } from '../plays/running-plays.ts';
import type { HiddenEpisode, PlayableEpisode } from '../projection/content-table.ts';
import type { OpenPlay } from './open-plays.ts';
import { cleanMedia, playMedia } from './sent-media.ts';

export interface AnswerAudioOptions {
  readonly identify: IdentifyListener;
  readonly choosePlay: ChoosePlay;
  readonly resumePlay: ResumePlay;
  readonly onlyLooks: OnlyLooks;
  readonly runningPlays: Pick<RunningPlays, 'watch'>;
  readonly tokens: Pick<PlayTokens, 'mintPlay'>;
  readonly partSource: PartSource;
  readonly facts: FactSink;
  readonly listsVersion: string;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
  readonly now: () => Date;
}

/**
 * The answers of lasting addresses of audio, ours and those that other platforms chose: redirects, or the bytes at once with `?direct=1`.
 * The last segment of their path is `:file`, a name without quotes.
 */
export interface AnswerAudio {
  listenerOf(exchange: Exchange): Listener;
  /** Sends a file; only this is recorded as facts. */
  send(exchange: Exchange, listener: Listener, open: OpenPlay): Promise<void>;
  /** The play of this listener, which is decided and bound when there is none yet. */
  play(exchange: Exchange, listener: Listener, episode: PlayableEpisode): Promise<void>;
  /** The play that this listener has of an episode that is hidden; false, and no answer, when there is none. */
  resume(exchange: Exchange, listener: Listener, episode: HiddenEpisode): Promise<boolean>;
  /** The audio of the episode as it is: nothing is decided, reserved or bound. */
  clean(exchange: Exchange, listener: Listener, episode: PlayableEpisode): Promise<void>;
  /** A file that is not ours. Its bytes never pass here, so there is nothing to count. */
  redirect(exchange: Exchange, url: string): void;
}

const hasAds = ({ binding }: Play): boolean => Object.keys(binding?.ads ?? {}).length > 0;

/** `?download=1`: a browser shall save the file instead of playing it. */
const isDownload = ({ query }: Exchange): boolean => query['download'] === '1';

/** The address that an enclosure or an alias leads to, with what it hands on. */
const handOn = (exchange: Exchange, file: string): string =>
  isDownload(exchange) ? `${file}${file.includes('?') ? '&' : '?'}download=1` : file;

const lasting = 'private, no-store';

export function createAnswerAudio(options: AnswerAudioOptions): AnswerAudio {
  const { identify, choosePlay, resumePlay, onlyLooks, runningPlays, tokens, partSource } = options;
  const { facts, listsVersion, mediaUrl, now } = options;
  const redirects = meter().createCounter('longwave.delivery.redirects', {
    description: 'Enclosures and delivery aliases that were answered with the address of a file',
  });

  function lead(
    { response }: Exchange,
    location: string,
    outcome: 'outside' | 'clean' | 'with_ads' | 'without_ads',
    headers: OutgoingHttpHeaders = {},
  ): void {
    redirects.add(1, { outcome });
    response.writeHead(302, { location, 'cache-control': lasting, ...headers, 'content-length': '0' });
    response.end();
  }

  function send(exchange: Exchange, listener: Listener, open: OpenPlay): Promise<void> {
    const { media, begun, late, traceparent } = open;
    const { request, response, requestId, startedAt, params } = exchange;
    const { method = 'GET' } = request;
    runningPlays.watch(media.counted.episodeId, { ...begun, parts: media.parts }, response);
    // Facts name the user agent by its digest. A client that requests no bytes is not recorded.
    facts.sawUserAgent(listener.userAgentDigest, listener.userAgent, startedAt);
    const metered: MeteredResponse = { requestId, method, startedAt, listener, late, listsVersion };
    const disposition = `attachment; filename="${params['file']}"`;
    const headers = { ...media.headers, ...(isDownload(exchange) && { 'content-disposition': disposition }) };
    return joinTrace(traceparent, 'audio.send', () =>
      sendMedia(
        request,
        response,
        { ...media, headers, source: arrangedMedia(media.parts, partSource), counted: countedFileOf(media.counted) },
        metered,
        { facts, now },
      ),
    );
  }

  async function handOut(
    exchange: Exchange,
    listener: Listener,
    play: Play,
    { fileName }: HiddenEpisode,
  ): Promise<void> {
    const { startedAt } = exchange;
    // Another play has other bytes under the same address and the same date, so that the tag alone tells them apart.
    if (exchange.query['direct'] === '1')
      return send(exchange, listener, {
        media: { ...playMedia(play, lasting), modifiedAt: undefined },
        begun: { startedAt: play.binding?.startedAt ?? startedAt, isBound: play.binding !== undefined },
        late: false,
      });
    const file = `${mediaUrl}/delivery/v1/p/${tokens.mintPlay(play, startedAt)}/${fileName}.mp3`;
    lead(exchange, handOn(exchange, file), hasAds(play) ? 'with_ads' : 'without_ads', { 'accept-ranges': 'bytes' });
  }

  return {
    listenerOf: ({ request, startedAt }) => identify(request, startedAt),
    send,
    play: async (exchange, listener, episode) => {
      const { request, startedAt, requestId } = exchange;
      const isDryRun = onlyLooks(request, listener);
      const play = await choosePlay(episode, { ...listener, isDryRun }, startedAt, requestId);
      await handOut(exchange, listener, play, episode);
    },
    resume: async (exchange, listener, episode) => {
      const play = await resumePlay(episode, listener, exchange.startedAt);
      if (play) await handOut(exchange, listener, play, episode);
      return play !== undefined;
    },
    clean: async (exchange, listener, episode) => {
      if (exchange.query['direct'] === '1') {
        const media = cleanMedia(episode);
        const headers = { ...media.headers, 'cache-control': lasting };
        const begun = { startedAt: exchange.startedAt, isBound: false };
        return send(exchange, listener, { media: { ...media, headers, modifiedAt: undefined }, begun, late: false });
      }
      const { episodeId, rendition, fileName } = episode;
      const file = `${mediaUrl}/delivery/v1/a/${rendition.digest}/${fileName}.mp3?e=${episodeId}`;
      lead(exchange, handOn(exchange, file), 'clean', { 'accept-ranges': 'bytes' });
    },
    redirect: (exchange, url) => lead(exchange, url, 'outside'),
  };
}
