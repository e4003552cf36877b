import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { renderPlayerPage } from '../src/feeds/player-page.ts';
import type { PlayerEpisode } from '../src/projection/player-table.ts';
import { askAt } from './_ask.ts';
import { publishShow } from './_stitched.ts';
import { audio, openBench, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

async function show(episode: Record<string, unknown> = {}) {
  const made = await publishShow(bench, audio(100), episode);
  return { ...made, player: made.enclosure.replace(/[^/]+$/, 'player') };
}
const titled = (titles: readonly string[]) => titles.map((title, i) => ({ start_ms: i, title }));

test('the player of an episode plays its enclosure when it is asked to, and any page may frame it', async () => {
  const { player, enclosure, subdomain } = await show({ chapters: titled(['Ebb & flow', 'Flood']) });
  const { status, headers, body } = await ask(player);
  const html = body.toString();
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const style = /<style>(.*)<\/style>/.exec(html)![1]!;
  const digest = createHash('sha256').update(style).digest('base64');
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-${digest}'; img-src 'self' data:; media-src 'self'; frame-ancestors *`,
  );
  expect(html).toContain(`<audio controls preload="none" src="http://media.test${enclosure}"></audio>`);
  expect(html).toContain('<h1>One: the Größe</h1>');
  expect(html).toContain(`<a href="http://media.test/site/${subdomain}" target="_blank" rel="noopener">Tides</a>`);
  expect(html).toContain('<li>Ebb &amp; flow</li>\n<li>Flood</li>');
  expect((await ask(enclosure)).status).toBe(302);
  const head = await ask(player, {}, 'HEAD');
  expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(body.length), 0]);
});

test('words of strangers stay words, and nothing is loaded from another host', async () => {
  const made = await show({
    title: '"><script>alert(1)</script>',
    artwork_url: 'https://elsewhere.example/a.jpg',
    chapters: titled(['</ol><img src=x onerror=alert(1)>']),
  });
  await apply(bench, next(made.events.podcast, { artwork_url: 'https://elsewhere.example/p.jpg' }));
  const html = (await ask(made.player)).body.toString();
  expect(html).not.toMatch(/<script|<img/);
  const loaded = [...html.matchAll(/\bsrc="([^"]+)"/g)].map(([, url]) => new URL(url!).host);
  expect(loaded).toEqual(['media.test']);
});

test('a player has at most 12 kB, however many chapters there are', async () => {
  const { player } = await show({ chapters: titled(Array.from({ length: 200 }, () => '&ö'.repeat(100))) });
  const { body } = await ask(player);
  expect(body.length).toBeLessThanOrEqual(12_000);
  expect(body.length).toBeGreaterThan(10_000);
  expect(body.toString()).toContain('</li>\n<li>…</li>\n</ol>\n</main></body></html>\n');
});

test.each(['plain', 'playing'] as const)('it has at most 12 kB with the longest titles and link: %s', (kind) => {
  const [mediaUrl, alias] = [`https://${'media.'.repeat(20)}test`, `t1.${'x'.repeat(100)}`];
  for (const letter of ['&', '語', '😀'])
    for (const chapters of [[], Array.from({ length: 200 }, () => letter.repeat(200))]) {
      const link = `https://tides.example/?${'&a'.repeat(990)}`;
      const artwork = `${mediaUrl}/delivery/v1/f/upl/${'x'.repeat(1_900)}.png`;
      const { html } = renderPlayerPage(
        {
          ...{ alias, file_name: 'x'.repeat(80), clip_format: null, hasPresentation: kind === 'playing' },
          ...{ attributes: { title: letter.repeat(255) }, chapterTitles: chapters },
          podcast: { title: letter.repeat(255), subdomain: 'x'.repeat(63), language: 'en', link, artwork_url: artwork },
        } as unknown as PlayerEpisode,
        mediaUrl,
      );
      expect(Buffer.byteLength(html)).toBeLessThanOrEqual(12_000);
      const [, title] = /<h1>(.*)<\/h1>/.exec(html)!;
      expect(title).toMatch(/^(?:(?:&amp;)+|語+|(?:😀)+)…$/u);
      expect(html).toMatch(/<a href="https:\/\/media\.[^"]*\/site\/x+"/);
      expect(html).not.toContain('<ol>\n<li>…</li>');
      if (kind === 'plain') expect(html.includes('<ol>')).toBe(chapters.length > 0);
    }
});

test('an episode that is not public has no player, and an archived one is gone', async () => {
  const made = await show();
  await apply(bench, next(made.events.episode, {}, { state: 'unpublished' }));
  expect((await ask(made.player)).status).toBe(404);
  await apply(bench, next(made.events.episode, {}, { state: 'archived', by: 2 }));
  expect((await ask(made.player)).status).toBe(410);
  expect((await ask('/delivery/v1/e/nobody/player')).status).toBe(404);
});
