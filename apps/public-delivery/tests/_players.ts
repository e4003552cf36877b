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
const html = '<!doctype html><title>Player</title><div id="ads"></div><audio id="sound" muted></audio>';

/** A browser in which `http://media.test` is this machine's port, and a page of another origin on which players stand. */
export interface PlayerBrowser extends AsyncDisposable {
  /** A page with the scripts of both players, of a listener of its own. */
  openPage(): Promise<Page>;
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
  return {
    async openPage() {
      const page = await browser.newPage({ userAgent: `AntennaPod/3.6.${pages++}` });
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
}

/** Plays an address to the end of its last break with hls.js, eight times as fast. */
export const playWithHlsJs = (page: Page, url: string): Promise<Played> =>
  page.evaluate<Played>(`new Promise((resolve) => {
    const sound = document.getElementById('sound');
    const hls = new Hls();
    const [ads, failed, fatal, content] = [[], [], [], []];
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
    hls.on(Hls.Events.INTERSTITIAL_ENDED, (_, { event }) => {
      if (event !== manager().events.at(-1)) return;
      const runs = content.filter(Boolean);
      resolve({ ads, failed, fatal, content: runs, totalSeconds: manager().integrated.duration });
    });
    hls.loadSource('${url}');
    hls.attachMedia(sound);
    sound.defaultPlaybackRate = sound.playbackRate = 8;
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
