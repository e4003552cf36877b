import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { findBrowser } from '@longwave/test-kit';
import { type Browser, chromium, type Page } from 'playwright-core';

const files = createRequire(import.meta.url);
const scripts: Readonly<Record<string, string>> = {
  '/hls.js': files.resolve('hls.js/dist/hls.min.js'),
  '/shaka.js': files.resolve('shaka-player/dist/shaka-player.compiled-es2021.js'),
};
const html =
  '<!doctype html><title>Player</title><div id="ads"></div><audio id="sound" muted></audio><video id="picture" muted></video>';

/** A browser in which `http://media.test` is this machine's port, and a page of another origin on which players stand. */
export interface PlayerBrowser extends AsyncDisposable {
  /** A page with the scripts of both players, of a listener of its own. */
  openPage(): Promise<Page>;
  /** An empty page of a listener of its own, of the size of a telephone. */
  openEmptyPage(): Promise<Page>;
}

export async function openPlayerBrowser(mediaPort: number): Promise<PlayerBrowser> {
  const server = createServer((request, response) => {
    const script = scripts[request.url!];
    response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
    if (script) createReadStream(script).pipe(response);
    else response.end(html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const browser: Browser = await chromium.launch({
    executablePath: findBrowser(),
    args: [
      ...['--no-sandbox', '--disable-gpu', '--autoplay-policy=no-user-gesture-required'],
      `--host-resolver-rules=MAP media.test 127.0.0.1:${mediaPort}`,
    ],
  });
  let pages = 0;
  const openEmptyPage = () =>
    browser.newPage({ userAgent: `AntennaPod/3.6.${pages++}`, viewport: { width: 360, height: 640 } });
  return {
    openEmptyPage,
    async openPage() {
      const page = await openEmptyPage();
      await page.goto(`http://127.0.0.1:${port}/`);
      for (const url of Object.keys(scripts)) await page.addScriptTag({ url });
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      server.close();
    },
  };
}

/** What hls.js played, in seconds of sound. */
export interface Played {
  /** The ads that played to their end, in order: “break place”. */
  readonly ads: readonly string[];
  /** The ads that were left out because of an error. */
  readonly failed: readonly string[];
  /** Errors after which a player gives up. */
  readonly fatal: readonly string[];
  /** Each run of the content between breaks: where it begins and ends. */
  readonly content: readonly (readonly [number, number])[];
  /** Content and its ads, as the player adds them up. */
  readonly totalSeconds: number;
  /** Heights of the pictures of the content that were played, one after the other. */
  readonly heights: readonly number[];
}

/** The element that plays: pictures begin with the smallest, and go on with the largest once some are loaded. */
type Element = 'sound' | 'picture';

/** Plays an address to the end of its last break with hls.js, faster than it is. */
export const playWithHlsJs = (page: Page, url: string, element: Element = 'sound', rate = 8): Promise<Played> =>
  page.evaluate<Played>(`new Promise((resolve) => {
    const sound = document.getElementById('${element}');
    const hls = new Hls({ startLevel: 0 });
    const [ads, failed, fatal, content, heights] = [[], [], [], [], []];
    hls.on(Hls.Events.LEVEL_SWITCHED, (_, { level }) => heights.push(hls.levels[level].height));
    hls.once(Hls.Events.MANIFEST_PARSED, () => (hls.nextLevel = 0));
    hls.on(Hls.Events.FRAG_BUFFERED, (_, { frag }) => {
      if (frag.type === 'main' && frag.level === 0 && hls.levels.length > 1) hls.nextLevel = hls.levels.length - 1;
    });
    const manager = () => hls.interstitialsManager;
    const isInBreak = () => Boolean(manager()?.playingItem?.event);
    for (const name of ['timeupdate', 'ended'])
      sound.addEventListener(name, () => {
        const last = sound.played.length - 1;
        if (last >= 0 && !isInBreak()) content[manager().playingIndex] = [sound.played.start(last), sound.played.end(last)];
      });
    // An element pauses at the end of the content; hls.js leaves it to the page to go on with the ads behind.
    sound.addEventListener('canplay', () => sound.paused && isInBreak() && sound.play());
    const nameOf = ({ event, assetListIndex }) => event.identifier + ' ' + assetListIndex;
    hls.on(Hls.Events.INTERSTITIAL_ASSET_ENDED, (_, data) => ads.push(nameOf(data)));
    hls.on(Hls.Events.INTERSTITIAL_ASSET_ERROR, (_, data) => failed.push(nameOf(data)));
    hls.on(Hls.Events.ERROR, (_, data) => data.fatal && fatal.push(data.details));
    // Events of time are far apart at a high speed.
    hls.on(Hls.Events.INTERSTITIAL_STARTED, () => {
      const run = content.at(-1);
      if (run) run[1] = Math.max(run[1], sound.currentTime);
    });
    hls.on(Hls.Events.INTERSTITIAL_ENDED, (_, { event }) => {
      if (event !== manager().events.at(-1)) return;
      const runs = content.filter(Boolean);
      resolve({ ads, failed, fatal, heights, content: runs, totalSeconds: manager().integrated.duration });
    });
    hls.loadSource('${url}');
    hls.attachMedia(sound);
    sound.defaultPlaybackRate = sound.playbackRate = ${rate};
    sound.play().catch(() => undefined);
  })`);

/** What Shaka played of the break behind a place in the content. */
export interface PlayedBreak {
  /** Seconds, place and number of ads, of each ad that began. */
  readonly ads: readonly (readonly [seconds: number, place: number, of: number])[];
  /** So many ads played to their end. */
  readonly completed: number;
  /** Where the content went on, in seconds. */
  readonly resumedAt: number;
}

/** Plays an address with Shaka from a place in the content until it goes on behind the next break. */
export const playBreakWithShaka = (page: Page, url: string, fromSeconds: number): Promise<PlayedBreak> =>
  page.evaluate<PlayedBreak>(`(async () => {
    const [sound, container] = [document.getElementById('sound'), document.getElementById('ads')];
    const player = new shaka.Player();
    await player.attach(sound);
    const manager = player.getAdManager();
    manager.setContainers(container, container);
    const { AD_PLAYING, AD_BREAK_ENDED } = shaka.ads.Utils;
    const ads = [];
    manager.addEventListener(AD_PLAYING, ({ ad }) => {
      ads.push([ad.getDuration(), ad.getPositionInSequence(), ad.getSequenceLength()]);
      // Shaka finds the end of an ad by quarters, one at each event of time; an ad that is much faster has too few.
      manager.getInterstitialPlayer().getMediaElement().playbackRate = 2;
    });
    const resumed = new Promise((resolve) =>
      manager.addEventListener(AD_BREAK_ENDED, () => sound.addEventListener('playing', () => resolve(sound.currentTime))),
    );
    await player.load('${url}', ${fromSeconds});
    await sound.play();
    const resumedAt = await resumed;
    return { ads, resumedAt, completed: manager.getStats().playedCompletely };
  })()`);

/** What Shaka played of a presentation with pictures. */
export interface PlayedPicture {
  /** Seconds of each ad that began, in order. */
  readonly ads: readonly number[];
  /** Where the content stopped for each ad, and where it went on behind each break, in seconds. */
  readonly stoppedAt: readonly number[];
  readonly resumedAt: readonly number[];
  /** Heights of the pictures of the content that were chosen, one after the other. */
  readonly heights: readonly number[];
}

/** Plays an address with Shaka until so many ads have played to their end, each alone in its break, in a video element. */
export const playPictureWithShaka = (page: Page, url: string, ads: number): Promise<PlayedPicture> =>
  page.evaluate<PlayedPicture>(`(async () => {
    const [picture, container] = [document.getElementById('picture'), document.getElementById('ads')];
    const player = new shaka.Player();
    await player.attach(picture);
    player.configure('abr.enabled', false);
    const manager = player.getAdManager();
    manager.setContainers(container, container);
    const { AD_PLAYING, AD_BREAK_ENDED, AD_COMPLETE } = shaka.ads.Utils;
    const [ads, stoppedAt, resumedAt, heights] = [[], [], [], []];
    let ended = 0;
    const choose = (pick) => {
      const tracks = player.getVariantTracks().filter(({ height }) => height).sort((a, b) => a.height - b.height);
      const track = pick(tracks);
      heights.push(track.height);
      player.selectVariantTrack(track, true);
    };
    manager.addEventListener(AD_PLAYING, ({ ad }) => {
      ads.push(ad.getDuration());
      stoppedAt.push(picture.currentTime);
      manager.getInterstitialPlayer().getMediaElement().playbackRate = 2;
    });
    manager.addEventListener(AD_BREAK_ENDED, () => {
      resumedAt.push(picture.currentTime);
      if (++ended === 1) choose((tracks) => tracks.at(-1));
    });
    // An ad is complete after its break has ended.
    let completed = 0;
    const over = new Promise((resolve) => manager.addEventListener(AD_COMPLETE, () => ++completed === ${ads} && resolve()));
    await player.load('${url}');
    choose((tracks) => tracks[0]);
    picture.defaultPlaybackRate = picture.playbackRate = 4;
    await picture.play();
    await over;
    return { ads, stoppedAt, resumedAt, heights };
  })()`);
