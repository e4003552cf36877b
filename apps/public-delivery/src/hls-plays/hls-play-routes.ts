import { canonicalFormat } from '@longwave/audio';
import {
  dateRangesOf,
  durationTicks,
  renderAssetList,
  renderMediaPlaylist,
  renderMultivariant,
} from '@longwave/hls-media';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { LRUCache } from 'lru-cache';
import { toFactLine } from '../facts/fact-line.ts';
import type { FactSink } from '../facts/fact-sink.ts';
import { digestShape, openedToken, parameter, tokenShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendFile } from '../http/send-file.ts';
import { sendText } from '../http/send-text.ts';
import type { IdentifyListener, Listener } from '../listeners/identify-listener.ts';
import type { HlsPlay } from '../plays/hls-play-table.ts';
import { audioName, pictureVariants, playlistOf, trackOf, tracksOf } from '../presentations/open-pictures.ts';
import { playlistType, type PresentationFiles, type PresentationView } from '../presentations/presentation-files.ts';
import { copyChunks } from '../segments/copy-chunks.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import { onVast, type BoundAd, type BoundAdsOfPlays } from './bound-ads.ts';
import { createOpenHlsToken, type FindHlsPlay, type FoundHlsPlay } from './find-hls-play.ts';
import type { HlsTokens } from './hls-tokens.ts';
import type { ListBreakAds } from './list-break-ads.ts';
import type { SendTrack } from './send-track.ts';

export interface HlsPlayRoutesOptions {
  readonly identify: IdentifyListener;
  readonly findPlay: FindHlsPlay;
  readonly tokens: HlsTokens;
  readonly files: PresentationFiles;
  readonly ads: Pick<BoundAdsOfPlays, 'find'>;
  readonly listAds: ListBreakAds;
  readonly segments: Pick<SegmentCache, 'open'>;
  readonly sendTrack: SendTrack;
  readonly facts: Pick<FactSink, 'add'>;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}

const personal = 'private, max-age=60';
const never = 'private, no-store';
const maxViews = 5_000;
const immutable = 'private, max-age=31536000, immutable';
const nameShape = /^[A-Za-z0-9.-]{1,60}$/;

/** HLS of one listener, under tokens: playlists with the breaks of the play, lists of the ads of a break, and media that is counted. */
export function hlsPlayRoutes(options: HlsPlayRoutesOptions): readonly Route[] {
  const { identify, findPlay, tokens, files, ads, listAds, segments, sendTrack, facts, mediaUrl } = options;

  const openPlay = createOpenHlsToken(tokens.openPresentation, findPlay);
  async function playOf(exchange: Exchange): Promise<FoundHlsPlay> {
    const found = await openPlay(parameter(exchange, 'token', tokenShape), exchange.startedAt);
    if (!found) throw new Problem('not_found');
    return found;
  }

  /** Tokens of breaks are made once for each token of a play. */
  const views = new LRUCache<string, PresentationView>({ max: maxViews });
  const viewOf = ({ params }: Exchange, { play }: FoundHlsPlay): PresentationView => {
    const token = String(params['token']);
    const view = views.get(token) ?? makeView(play);
    views.set(token, view);
    return view;
  };
  const makeView = (play: HlsPlay): PresentationView => {
    const { schedule } = play;
    const listUrl = (place: number) => `${mediaUrl}/delivery/v1/al/${tokens.mintAssetList(play, place)}`;
    return {
      schedule,
      dateRanges: dateRangesOf(schedule, (scheduled) => listUrl(schedule.indexOf(scheduled))),
      trackUri: (digest) => `../s/${digest}/m.mp4`,
    };
  };

  /** What facts about answers without media say. */
  function listed({ play, presentation }: FoundHlsPlay, listener: Listener, at: Date) {
    return {
      ...{ fact_id: newId('fct'), at: at.toISOString(), play_id: play.playId, presentation: presentation.digest },
      ...{ workspace_id: presentation.workspaceId, podcast_id: presentation.podcastId, episode_id: play.episodeId },
      ...{ listener_key: listener.key, user_agent_digest: listener.userAgentDigest },
    };
  }

  async function readFile(exchange: Exchange, path: string): Promise<void> {
    const { request, startedAt } = exchange;
    const found = await playOf(exchange);
    const file = await files.render(found.presentation, path, viewOf(exchange, found));
    if (!file) throw new Problem('not_found');
    if (file.contentType === playlistType && request.method === 'GET') {
      const which = path.split('/').at(-2) ?? 'main';
      const common = listed(found, identify(request, startedAt), startedAt);
      facts.add(toFactLine({ kind: 'playlist_served', ...common, which }), 0);
    }
    await sendText(exchange, file.text, { 'content-type': file.contentType, 'cache-control': personal });
  }

  async function readTrackOf(exchange: Exchange): Promise<void> {
    const found = await playOf(exchange);
    const track = found.presentation.tracks.get(parameter(exchange, 'digest', digestShape));
    if (!track) throw new Problem('not_found');
    await sendTrack(exchange, found, track);
  }

  async function readAssetList(exchange: Exchange): Promise<void> {
    const { request, startedAt } = exchange;
    const { playId, place } = openedToken(exchange, tokens.openAssetList);
    const found = await findPlay(playId, startedAt);
    const scheduled = found.play.schedule[place];
    if (!scheduled) throw new Problem('not_found');
    const inBreak = await listAds(exchange, found, scheduled.key);
    if (request.method === 'GET') {
      const common = listed(found, identify(request, startedAt), startedAt);
      const assets = inBreak.map(({ counted }) => counted.serving_id);
      facts.add(toFactLine({ kind: 'asset_list_served', ...common, break_key: scheduled.key, assets }), 0);
    }
    const list = renderAssetList(
      inBreak.map(({ counted, track: { reader }, pictures }) => ({
        uri: `${mediaUrl}/delivery/v1/ad/${tokens.mintAd(found.play, counted.serving_id, pictures !== undefined)}/main.m3u8`,
        ticks: durationTicks(reader.index),
        timescale: reader.index.timescale,
      })),
    );
    await sendText(exchange, list, { 'content-type': 'application/json', 'cache-control': never });
  }

  async function adOf(
    exchange: Exchange,
    surfaces?: typeof onVast,
  ): Promise<{ readonly found: FoundHlsPlay; readonly ad: BoundAd; readonly pictures: BoundAd['pictures'] }> {
    const { playId, servingId, hasPictures: shown } = openedToken(exchange, tokens.openAd);
    const found = await findPlay(playId, exchange.startedAt);
    const ad = await ads.find(found, servingId, exchange.startedAt, surfaces);
    if (!ad) throw new Problem('not_found');
    if (ad === 'halted') throw new Problem('resource_gone');
    return { found, ad, pictures: shown ? ad.pictures : undefined };
  }

  /** The group, name and language of an ad are those of the presentation, whatever is said in it. */
  async function readAdMain(exchange: Exchange): Promise<void> {
    const { found, ad, pictures } = await adOf(exchange);
    const { language, name } = found.presentation.document;
    const text = renderMultivariant({
      audio: { name, language, uri: `${audioName}/media.m3u8`, rates: ad.track.rates },
      ...pictureVariants(pictures),
    });
    await sendText(exchange, text, { 'content-type': playlistType, 'cache-control': personal });
  }

  async function readAdMedia(exchange: Exchange): Promise<void> {
    const { ad, pictures } = await adOf(exchange);
    const track = trackOf(named(exchange, 'rendition'), ad.track, pictures);
    if (!track) throw new Problem('not_found');
    const text = renderMediaPlaylist(playlistOf(track, `../s/${track.digest}/m.mp4`));
    await sendText(exchange, text, { 'content-type': playlistType, 'cache-control': personal });
  }

  async function readAdTrack(exchange: Exchange): Promise<void> {
    const { found, ad, pictures } = await adOf(exchange);
    const track = tracksOf(ad.track, pictures).get(parameter(exchange, 'digest', digestShape));
    if (!track) throw new Problem('not_found');
    await sendTrack(exchange, found, track, ad);
  }

  /**
   * The MP3 of an ad, for players of VAST. It is not counted: no bytes of the play's content stand beside it, so that it could be told whether
   * the play is a download; what players say of it are reports.
   */
  async function readAdMp3(exchange: Exchange): Promise<void> {
    const { digest, sizeBytes } = (await adOf(exchange, onVast)).ad.mp3;
    await sendFile(exchange, {
      ...{ etag: `"${digest}"`, modifiedAt: undefined, sizeBytes },
      headers: { 'content-type': canonicalFormat.contentType, 'cache-control': immutable },
      open: async ({ from, to } = { from: 0, to: sizeBytes }) =>
        (async function* () {
          await using segment = await segments.open(digest, sizeBytes);
          yield* copyChunks(segment.read(from, to));
        })(),
    });
  }

  const named = (exchange: Exchange, name: string) => parameter(exchange, name, nameShape);
  return [
    { name: 'hls_track.read', path: '/delivery/v1/hp/:token/s/:digest/m.mp4', get: readTrackOf },
    { name: 'hls_play.read', path: '/delivery/v1/hp/:token/:file', get: (e) => readFile(e, named(e, 'file')) },
    {
      name: 'hls_play_file.read',
      path: '/delivery/v1/hp/:token/:rendition/:file',
      get: (exchange) => readFile(exchange, `${named(exchange, 'rendition')}/${named(exchange, 'file')}`),
    },
    { name: 'asset_list.read', path: '/delivery/v1/al/:token', get: readAssetList },
    { name: 'ad.read', path: '/delivery/v1/ad/:token/main.m3u8', get: readAdMain },
    { name: 'ad_playlist.read', path: `/delivery/v1/ad/:token/:rendition/media.m3u8`, get: readAdMedia },
    { name: 'ad_mp3.read', path: '/delivery/v1/ad/:token/ad.mp3', get: readAdMp3 },
    { name: 'ad_track.read', path: '/delivery/v1/ad/:token/s/:digest/m.mp4', get: readAdTrack },
  ];
}
