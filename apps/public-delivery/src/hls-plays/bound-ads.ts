import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { LRUCache } from 'lru-cache';
import { filledBreaksOf, splitSlotName } from '../arrangements/arranged-breaks.ts';
import { findAdPictures } from '../decisions/ad-picture-table.ts';
import { findAdTracks } from '../decisions/ad-track-table.ts';
import { haltsAd, haltsAll } from '../decisions/halts.ts';
import type { CountedAds } from '../decisions/play-ads.ts';
import type { Listener } from '../listeners/identify-listener.ts';
import type { Bindings } from '../plays/bindings.ts';
import type { BoundPlays, Play } from '../plays/bound-plays.ts';
import type { ChoosePlay } from '../plays/choose-play.ts';
import { findHlsPlay } from '../plays/hls-play-table.ts';
import type { OpenPictures } from '../presentations/open-pictures.ts';
import type { OpenTrack } from '../presentations/open-track.ts';
import type { LoadIndex } from '../presentations/load-index.ts';
import { findAudioByEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { FoundHlsPlay } from './find-hls-play.ts';
import { createOpenAdFiles } from './open-ad-files.ts';

/** An ad of a play, as HLS sends it. */
export interface BoundAd {
  readonly breakKey: string;
  readonly counted: CountedAds[string];
  readonly decisionId: string;
  readonly boundAt: Date;
  readonly track: OpenTrack;
  /** In plays with pictures. */
  readonly pictures: OpenPictures | undefined;
  /** The same sound as an MP3. */
  readonly mp3: { readonly digest: string; readonly sizeBytes: number; readonly durationMs: number };
}

export interface BoundAdsOptions {
  readonly pool: Pool;
  readonly bindings: Pick<Bindings, 'findOfHlsPlay'>;
  readonly plays: Pick<BoundPlays, 'get'>;
  readonly choosePlay: Pick<ChoosePlay, 'ofHls'>;
  readonly projection: Pick<RecentProjection, 'listHalts'>;
  readonly loadIndex: LoadIndex;
  readonly logger: Logger;
}

/** Who asks for the ads of a play, and may cause their decision. */
interface AdsAsker {
  readonly listener: Listener;
  readonly requestId: string;
}

/** The ads of plays by HLS: decided at the first question, together with the MP3, and the same for ever but for those that are halted. */
export interface BoundAdsOfPlays {
  /**
   * The ads of a play that may run, in the order of its file. Without an asker nothing is decided: a play that is not bound has none. A play
   * of which nothing can be decided or read, because an engine is away, has none this time.
   * @param surfaces on which they are played, as halts name them
   */
  list(
    found: FoundHlsPlay,
    asker: AdsAsker | undefined,
    at: Date,
    surfaces?: readonly AdSurface[],
  ): Promise<readonly BoundAd[]>;
  /** One of them by its serving; 'halted' when it must not run any more, undefined when the play has no such ad. */
  find(
    found: FoundHlsPlay,
    servingId: string,
    at: Date,
    surfaces?: readonly AdSurface[],
  ): Promise<BoundAd | 'halted' | undefined>;
}

type AdSurface = 'hls' | 'vast';
const onHls: readonly AdSurface[] = ['hls'];
/** VAST answers the ads of a play by HLS, so a halt of either stops them. */
export const onVast: readonly AdSurface[] = ['hls', 'vast'];
/** Plays whose ads stay in memory, so that the same list is answered while the database is away. */
const maxPlays = 5_000;

export function createBoundAds(options: BoundAdsOptions): BoundAdsOfPlays {
  const { pool, bindings, plays, choosePlay, projection, loadIndex, logger } = options;
  const known = new LRUCache<string, readonly BoundAd[]>({ max: maxPlays });
  const files = createOpenAdFiles(loadIndex);

  /** Undefined in place of an ad whose track cannot be had now. */
  async function adsOf(
    { arrangement, binding }: Play,
    hasPictures: boolean,
  ): Promise<readonly (BoundAd | undefined)[]> {
    if (!binding || Object.keys(binding.ads).length === 0) return [];
    const slots = filledBreaksOf(arrangement.document).flatMap(({ ads }) => ads);
    const [tracks, pictures] = await Promise.all([
      findAdTracks(
        pool,
        slots.map(({ digest }) => digest),
      ),
      hasPictures
        ? findAdPictures(
            pool,
            Object.values(binding.ads).map((ad) => ad.creative_id),
          )
        : undefined,
    ]);
    const found = slots.map(async ({ slot, ...mp3 }): Promise<(BoundAd | undefined)[]> => {
      const [stored, counted] = [tracks.get(mp3.digest), binding.ads[slot]];
      const shown = counted && pictures?.get(counted.creative_id);
      // Decided before the show had HLS, or pictures.
      if (!stored || !counted || (pictures && !shown)) return [];
      const { decisionId, startedAt: boundAt } = binding;
      const opened = await Promise.all([files.openTrack(stored), shown && files.openPictures(shown)]).catch(
        (error: unknown) => logger.warn({ err: error, track: stored.digest }, 'ad_track.unavailable'),
      );
      if (!opened) return [undefined];
      const [track, openedPictures] = opened;
      const breakKey = splitSlotName(slot).key;
      return [{ breakKey, counted, decisionId, boundAt, track, pictures: openedPictures, mp3 }];
    });
    return (await Promise.all(found)).flat();
  }

  async function playOf(found: FoundHlsPlay, asker: AdsAsker | undefined, at: Date): Promise<Play | undefined> {
    const { playId, episodeId } = found.play;
    // An erasure may have taken the listener out of it since it was read.
    const play = asker && (await findHlsPlay(pool, playId));
    const episode = play && (await findAudioByEpisode(pool, episodeId));
    if (asker && play && episode?.kind === 'ours')
      return choosePlay.ofHls(play, episode.episode, asker.listener, at, asker.requestId);
    const binding = await bindings.findOfHlsPlay(playId);
    return binding && plays.get(binding);
  }

  async function load(found: FoundHlsPlay, asker: AdsAsker | undefined, at: Date): Promise<readonly BoundAd[]> {
    const { playId } = found.play;
    const last = known.get(playId);
    if (last) return last;
    const play = await playOf(found, asker, at);
    const slots = play ? await adsOf(play, found.presentation.pictures !== undefined) : [];
    const ads = slots.filter((ad) => ad !== undefined);
    if (play?.binding && ads.length === slots.length) known.set(playId, ads);
    return ads;
  }

  const isHalted = async (
    { presentation }: FoundHlsPlay,
    { counted }: BoundAd,
    at: Date,
    surfaces: readonly AdSurface[],
  ): Promise<boolean> => {
    const halts = await projection.listHalts(presentation.workspaceId, at);
    return surfaces.some((surface) => haltsAd(halts, presentation.podcastId, counted, surface));
  };

  return {
    list: async (found, asker, at, surfaces = onHls) => {
      const { workspaceId, podcastId } = found.presentation;
      const halts = await projection.listHalts(workspaceId, at);
      if (surfaces.some((on) => haltsAll(halts, podcastId, on))) return [];
      const ads = await load(found, asker, at);
      const halted = await Promise.all(ads.map((ad) => isHalted(found, ad, at, surfaces)));
      return ads.filter((_, place) => !halted[place]);
    },
    find: async (found, servingId, at, surfaces = onHls) => {
      const ad = (await load(found, undefined, at)).find(({ counted }) => counted.serving_id === servingId);
      return ad && (await isHalted(found, ad, at, surfaces)) ? 'halted' : ad;
    },
  };
}
