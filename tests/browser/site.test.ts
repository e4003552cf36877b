import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { HtmlValidate } from 'html-validate/node';
import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../_browser.ts';
import { heading, lookAt, newPodcaster, type Podcaster } from '../_console.ts';
import { encodedEpisode, publishedPodcast } from '../_hosting-world.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const stack = new AsyncDisposableStack();
let world: SharedInstallation;
let browser: TestBrowser;
let ada: Podcaster;
let podcastId: string;
let episodeId: string;
let siteUrl: string;
beforeAll(async () => {
  world = stack.use(await openSharedInstallation());
  browser = stack.use(await openBrowser(world.fleet));
  ada = await newPodcaster(world, 'Ada Quay');
  podcastId = await publishedPodcast(ada.rest, 'Gezeiten', { language: 'de' });
  ({ episodeId } = await encodedEpisode(world, ada.rest, podcastId, { title: 'Nebel & Licht', publish: true }));
  await ada.rest.put(`/episodes/${episodeId}`, {
    description: '<p>Warum das Horn schweigt. <a href="https://harbour.example/">Mehr</a></p>',
  });
  await ada.rest.put(`/episodes/${episodeId}/chapters`, { chapters: [{ start_ms: 0, title: 'Ebbe' }] });
  ({ site_url: siteUrl } = await ada.rest.get<{ site_url: string }>(`/podcasts/${podcastId}`));
  await until('the page', async () => (await (await fetch(`${siteUrl}/${episodeId}`)).text()).includes('Ebbe'));
});
afterEach(() => expect(browser.takeFindings()).toEqual([]));
afterAll(() => stack.disposeAsync());

const validator = new HtmlValidate({ root: true, extends: ['html-validate:standard'] });

/** The text of a page as it is sent, which is valid HTML. */
async function validText(url: string): Promise<string> {
  const text = await (await fetch(url)).text();
  const { results } = await validator.validateString(text);
  expect(results.flatMap(({ messages }) => messages)).toEqual([]);
  return text;
}

const positionOf = (page: Page) => page.evaluate<number>(`document.querySelector('audio').currentTime`);

test('25, the pages of a podcast are valid HTML with tags for previews, and play without JavaScript', async () => {
  const [home, episode] = [await validText(siteUrl), await validText(`${siteUrl}/${episodeId}`)];
  expect(home).toContain('<meta property="og:title" content="Gezeiten">');
  expect(episode).toContain('<meta property="og:title" content="Nebel &amp; Licht">');
  expect(episode).toMatch(/<meta property="og:image" content="[^"]+\/600\.jpg">/);
  expect(episode).toContain('"@type":"PodcastEpisode"');

  await using tab = await browser.open({ javaScriptEnabled: false });
  const { page } = tab;
  await page.goto(siteUrl);
  await heading(page, 'Gezeiten').waitFor();
  await page.getByRole('link', { name: 'Nebel & Licht' }).click();
  await heading(page, 'Nebel & Licht').waitFor();
  await page.getByRole('heading', { level: 2, name: 'Kapitel' }).waitFor();
  await page.locator('audio').focus();
  await page.keyboard.press('Space');
  await until('the sound', async () => (await positionOf(page)) > 0.2);
});

test('25, the pages are well made: in light and dark, at every width, in a frame of the console alone', async () => {
  await using tab = await browser.open();
  const { page } = tab;
  await page.goto(siteUrl);
  await heading(page, 'Gezeiten').waitFor();
  await lookAt(page, 'site');
  await page.goto(`${siteUrl}/${episodeId}`);
  await heading(page, 'Nebel & Licht').waitFor();
  await lookAt(page, 'site-episode');
});

test('25, the tab Website gives the address and the code of the player, and shows both as others see them', async () => {
  await using tab = await browser.open({ session: ada.browser });
  const { page } = tab;
  await tab.visit(`/podcasts/${podcastId}`);
  await page.getByRole('link', { name: 'Website', exact: true }).click();
  await page.getByRole('heading', { level: 2, name: 'Player for your own pages' }).waitFor();
  expect(await page.getByRole('link', { name: siteUrl }).getAttribute('href')).toBe(siteUrl);
  const preview = page.frameLocator('iframe[title="The page of Gezeiten"]');
  await preview.getByRole('heading', { level: 1, name: 'Gezeiten' }).waitFor();
  const player = page.frameLocator('iframe[title="Player: Nebel & Licht"]');
  await player.getByRole('heading', { level: 1, name: 'Nebel & Licht' }).waitFor();
  await lookAt(page, 'website');

  const code = await page.getByRole('textbox', { name: 'Code for your page' }).inputValue();
  const oembed = await (
    await fetch(`${new URL(siteUrl).origin}/oembed?url=${encodeURIComponent(`${siteUrl}/${episodeId}`)}`)
  ).json();
  expect(code).toBe((oembed as { html: string }).html);
});
