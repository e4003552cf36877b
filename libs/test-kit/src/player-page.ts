import type { Page } from 'playwright-core';
import { until } from './until.ts';

/** What the player of an episode's page did, in seconds. */
export interface PlayedOnPage {
  /** Of each ad that played to its end: its length, and where the content stood. */
  readonly ads: readonly (readonly [seconds: number, at: number])[];
  /** Each run of the content. */
  readonly content: readonly (readonly [number, number])[];
  /** What the page said, in order. */
  readonly said: readonly string[];
}

/** Notes what the page of a player plays, as fast as browsers can; before it is opened. */
export const watchPlayerPage = (page: Page): Promise<unknown> =>
  page.addInitScript(`
    globalThis.watched = { ads: [], said: [] };
    const soundOf = () => document.querySelector('audio');
    addEventListener('ended', ({ target }) =>
      target !== soundOf() && watched.ads.push([target.duration, soundOf().currentTime]), true);
    for (const name of ['loadstart', 'play'])
      addEventListener(name, ({ target }) => {
        target.muted = true;
        target.defaultPlaybackRate = target.playbackRate = 16;
      }, true);
    addEventListener('DOMContentLoaded', () =>
      new MutationObserver(() => watched.said.push(document.getElementById('s').textContent)).observe(
        document.getElementById('s'), { childList: true }));
  `);

/** Waits until the page has played everything. */
export async function playedToEnd(page: Page): Promise<PlayedOnPage> {
  const isOver = `document.querySelector('audio').ended && document.querySelector('[aria-label=Play]') !== null &&
    document.getElementById('s').textContent === ''`;
  await until('the end of the episode', () => page.evaluate<boolean>(isOver), { timeoutMs: 30_000 });
  return page.evaluate<PlayedOnPage>(`(() => {
    const { played } = document.querySelector('audio');
    const content = Array.from({ length: played.length }, (_, index) => [played.start(index), played.end(index)]);
    return { ...watched, content };
  })()`);
}
