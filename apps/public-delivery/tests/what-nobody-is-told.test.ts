/**
 * Everything that Public Delivery answers, read by somebody who looks for what only the operator may know: campaigns, lines, decisions,
 * listeners.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTokenKeys, mintToken } from '@longwave/delivery-token';
import { idBytes, newId } from '@longwave/ids';
import { sha256, until } from '@longwave/test-kit';
import { encodeTranscript, parseTranscript } from '@longwave/transcript';
import type { DecideRequest, DecideResponse } from '@longwave/rpc/serving';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt } from './_ask.ts';
import { decideAds, publishHlsShow, storeTone, type TestAd, type TestTrack } from './_hls.ts';
import { flipped, tokenOf } from './_hls-plays.ts';
import { hosted } from './_hosted.ts';
import { jpeg } from './_media.ts';
import { storePictures, type TestPictures } from './_pictures.ts';
import { openPreview } from './_previews.ts';
import { releaseWith } from './_release.ts';
import { storeSegment } from './_stitched.ts';
import { createFindSecrets, crawl, keep, openAny, purposes, tokenPattern, type Secrets, type Told } from './_told.ts';
import { audio, eventOf, makeShow, noAds, openBench, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let content: TestTrack;
let pictures: TestPictures;
let ads: readonly TestAd[];
let episode: Record<string, unknown>;
const ask = askAt(() => app.port);
const told: Told[] = [];

/** What the ad server knows and answers with; none of it is for the public. */
const marks = {
  ...{ campaign: newId('cmp'), line: newId('li'), plan: newId('spl') },
  ...{ reason: 'marked_no_ad_reason', cause: 'marked cause of a halt' },
};
const addresses = ['203.0.113.77', '203.0.113.78'] as const;
const listenerAt = (address: string) => ({ 'user-agent': 'MarkedPlayer/7.31 (marked)', 'x-forwarded-for': address });
const [listener, other] = [listenerAt(addresses[0]), listenerAt(addresses[1])];

const bot = { ...listener, 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' };

const markers = [
  { key: 'm1', kind: 'mid' as const, position_ms: 3_000, max_slots: 1 },
  { key: 'end', kind: 'post' as const, position_ms: 6_000, max_slots: 1 },
];

function markedAds(request: DecideRequest): DecideResponse {
  const decided = decideAds(request, ads, { clickUrl: 'https://shop.example/tea' });
  const picks = decided.picks.map((pick) => ({ ...pick, campaignId: marks.campaign, lineItemId: marks.line }));
  return { ...decided, servingPlanId: marks.plan, picks };
}
/** None of the breaks has an ad, for a reason; or the answer is that of another decision. */
const withoutAds = async (request: DecideRequest): Promise<DecideResponse> => ({
  ...noAds(request),
  noAdReason: marks.reason,
});
const ofAnother = async (request: DecideRequest): Promise<DecideResponse> => ({
  ...markedAds(request),
  decisionId: newId('dec'),
});

async function storeTranscript() {
  const cues = 'WEBVTT\n\n00:01.000 --> 00:02.000\nEbb.\n';
  const document = Buffer.from(encodeTranscript(parseTranscript('vtt', cues)));
  const stored = { storage_key: `transcripts/${sha256(document)}`, sha256: sha256(document) };
  await bench.store.put(stored.storage_key, document, { contentType: 'application/json' });
  return { language: 'en', captions: true, cue_count: 1, size_bytes: document.length, ...stored };
}

async function storeArtwork() {
  const bytes = jpeg(600);
  const image = { size: 600, content_type: 'image/jpeg', storage_key: `media/${sha256(bytes)}` };
  await bench.store.put(image.storage_key, bytes, { contentType: image.content_type });
  return { renditions: [{ ...image, sha256: sha256(bytes), size_bytes: bytes.length }] };
}

beforeAll(async () => {
  bench = await openBench();
  [app, content, pictures] = await Promise.all([
    bench.start(),
    storeTone(bench, 6, 440, [3_000]),
    storePictures(bench, 6, [3_000]),
  ]);
  ads = [{ mp3: audio(84), tone: await storeTone(bench, 2, 660), pictures: await storePictures(bench, 2) }];
  await storeSegment(bench, ads[0]!.mp3);
  episode = {
    chapters: [{ start_ms: 0, title: 'Ebb' }],
    transcripts: [await storeTranscript()],
    artwork: await storeArtwork(),
  };
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

/** The addresses of files that feeds and episodes show, some of which only older feeds name. */
async function shownFiles(): Promise<readonly string[]> {
  const id = newId('upl');
  const upload = { storage_key: `uploads/${id}/a.png`, file_url: `http://media.test/delivery/v1/f/${id}/a.png` };
  await bench.store.put(upload.storage_key, jpeg(16), { contentType: 'image/png' });
  const attributes = { ...upload, filename: 'a.png', content_type: 'image/png', upload_type: 'public' };
  await apply(bench, eventOf('uploads', id, 1, 'granted', attributes));
  const { rows } = await bench.pool.query<{ digest: string }>("select digest from shown_file where kind = 'chapters'");
  const chapters = rows.map(({ digest }) => `/delivery/v1/c/${digest}.json`);
  const [transcript] = episode['transcripts'] as { sha256: string }[];
  return [upload.file_url, ...chapters, `/delivery/v1/t/${transcript!.sha256}/0.vtt`];
}

/** Asks for everything from the feed and from an enclosure, and for a presentation binding of each play. */
async function askEverything(subdomain: string, enclosure: string, who = listener): Promise<readonly string[]> {
  const from = [
    `/feeds/${subdomain}.xml`,
    `/site/${subdomain}`,
    `/site/${subdomain}/sitemap.xml`,
    enclosure,
    enclosure.replace(/\.mp3$/, '.m3u8'),
  ];
  const found = await crawl(ask, told, from, who);
  const plays = found.filter((url) => /\/hp\/[^/]+\/main\.m3u8$/.test(url));
  for (const play of plays) {
    const body = JSON.stringify({ presentation_token: tokenOf(play) });
    const { headers, body: binding } = await keep(ask, told, '/delivery/v1/pb', who, 'POST', body);
    const { breaks } = JSON.parse(binding.toString()) as { breaks: { asset_list: string; vast: string }[] };
    const named = breaks.flatMap(({ asset_list: list, vast }) => [list, vast]);
    found.push(...(await crawl(ask, told, [String(headers.location), ...named], who)));
  }
  return found;
}

/** One address of each form. */
function oneOfEach(urls: readonly string[]): readonly string[] {
  const formOf = (url: string) => url.replace(/t1\.[\w-]+|[0-9a-f]{64}/g, '*').replace(/\d+(?=\.vtt)/, '*');
  return [...new Map(urls.map((url) => [formOf(url), url])).values()];
}

/** What is refused of each address: other methods, tokens, ranges, bodies and queries. */
async function askWrongly(urls: readonly string[]): Promise<void> {
  for (const url of oneOfEach(urls)) {
    for (const method of ['HEAD', 'OPTIONS', 'DELETE']) await keep(ask, told, url, listener, method);
    for (const body of ['{', '{"event":"start","sequence":70000}', '{"event":"start"}', 'x'.repeat(40_000)])
      await keep(ask, told, url, listener, 'POST', body);
    await keep(ask, told, url, { ...listener, range: 'bytes=99999999-' });
    await keep(
      ask,
      told,
      url.replace(tokenPattern, (token) => flipped(token)),
      listener,
    );
    await keep(ask, told, url.replace(/[0-9a-f]{64}/, 'a'.repeat(64)), listener);
    await keep(ask, told, `${url}%ff`, listener);
  }
  const token = tokenOf(urls.find((url) => url.includes('/ev/'))!);
  const event = { token, event: 'start' };
  for (const events of [[event], [{ ...event, token: flipped(token) }], [{ ...event, event: 'none' }], []])
    await keep(ask, told, '/delivery/v1/ev', listener, 'POST', JSON.stringify({ events }));
  for (const body of ['{', '{}', '{"presentation_token":"none"}', 'x'.repeat(2_000)])
    await keep(ask, told, '/delivery/v1/pb', listener, 'POST', body);
  for (const url of ['/', '/delivery/v1/contract', '/nowhere']) await keep(ask, told, url, listener);
}

/** What the database and the facts know of listeners and decisions. */
async function knownSecrets(): Promise<Secrets> {
  const columnOf = async (column: string, table: string) => {
    const { rows } = await bench.pool.query<{ value: string }>(`select distinct ${column} as value from ${table}`);
    return rows.map(({ value }) => value);
  };
  const facts = bench.facts.flatMap((fact) =>
    Object.entries(fact).filter(([name]) => /listener_key|address_key|user_agent_digest/.test(name)),
  );
  const inFacts = (pattern: RegExp) =>
    facts.flatMap(([name, value]) => (pattern.test(name) && typeof value === 'string' ? [value] : []));
  return {
    campaign: [marks.campaign],
    line: [marks.line],
    plan: [marks.plan],
    reason: [marks.reason, 'invalid_answer'],
    halt: [marks.cause],
    listener: [
      ...(await columnOf('listener_key', 'binding')),
      ...(await columnOf('listener_key', 'hls_play')),
      ...inFacts(/listener_key|user_agent_digest/),
    ],
    address: [...addresses, ...addresses.map(hexOf), ...inFacts(/address_key/)],
    agent: ['MarkedPlayer'],
  };
}
const hexOf = (address: string) => Buffer.from(address.split('.').map(Number)).toString('hex');

const decisionIds = () =>
  [...bench.serving.requests, ...bench.serving.previews.map(({ play }) => play!)].map(({ decisionId }) => decisionId);

/** Names of the routes that the sources declare. */
function declaredRoutes(): readonly string[] {
  const folder = path.join(import.meta.dirname, '../src');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const texts = sources.map((name) => readFileSync(path.join(folder, name), 'utf8'));
  return texts.flatMap((text) => [...text.matchAll(/name: '(\w+\.\w+)',\s+path: ['`]/g)].map(([, name]) => name!));
}

test('no answer names a campaign, a line, a decision, its reason or its listener, and no token names any of them but its decision', async () => {
  bench.serving.answer = async (request) => markedAds(request);
  const shows = [
    await publishHlsShow(bench, ask, content, markers, undefined, episode),
    await publishHlsShow(bench, ask, content, markers, pictures, episode),
  ];
  const all: string[] = [];
  for (const { subdomain, enclosure, events } of shows) {
    await apply(bench, next(events.podcast, { hls_in_feed: true }));
    all.push(...(await askEverything(subdomain, enclosure)));
  }
  const tried = { workspaceId, episodeId: shows[0]!.events.episode.subject.id };
  const { audioUrl, timelineUrl } = await openPreview(bench, app.grpcPort, tried);
  all.push(...(await crawl(ask, told, [audioUrl, timelineUrl], listener)));
  // Published over the bus, so that its enclosure has a token of this host.
  const released = await makeShow(bench.store, audio(500), { ...episode, markers });
  all.push(...(await askEverything(released.subdomain, await releaseWith(() => bench, ask)(released))));
  for (const route of ['platform_controlled', 'clean'])
    all.push(...(await crawl(ask, told, [(await hosted(bench, { route })).path], listener)));
  const { entry, enclosure } = shows[1]!;
  all.push(...(await crawl(ask, told, [entry, enclosure, ...(await shownFiles())], bot)));
  await askWrongly(all);

  for (const answer of [withoutAds, ofAnother]) {
    bench.serving.answer = answer;
    const without = await publishHlsShow(bench, ask, content, markers, undefined, episode);
    await askEverything(without.subdomain, without.enclosure, other);
  }

  // An ad that is halted, and an episode that is gone.
  await apply(
    bench,
    eventOf('serving_halts', newId('hlt'), 1, 'active', {
      scope: { kind: 'surface', surface: 'hls' },
      cause: marks.cause,
    }),
  );
  const ad = all.find((url) => url.includes('/ad/'))!;
  await until('the halt', async () => (await ask(ad, listener)).status === 410);
  for (const url of oneOfEach(all)) await keep(ask, told, url, listener);
  for (const { events } of shows) await apply(bench, next(events.episode, {}, { state: 'archived' }));
  await until('the end', async () => (await ask(shows[0]!.enclosure, listener)).status === 410);
  for (const url of oneOfEach(all)) await keep(ask, told, url, listener);

  const secrets = await until('the facts', async () => {
    const known = await knownSecrets();
    return known['address']!.length > 4 && known['listener']!.length > 2 && known;
  });
  const find = createFindSecrets({ ...secrets, decision: decisionIds() });
  const leaks = told.flatMap(({ asked, text }) => find(text).map((kind) => `${kind}: ${asked}`));
  expect(leaks).toEqual([]);

  const findInToken = createFindSecrets(secrets);
  const tokens = new Set(
    told.flatMap(({ asked, text }) => [...`${asked}\n${text}`.matchAll(tokenPattern)].map(([token]) => token)),
  );
  const opened = [...tokens].flatMap(
    (token) => openAny(String(bench.environment['DELIVERY_TOKEN_SECRETS']), token) ?? [],
  );
  expect(new Set(opened.map(({ purpose }) => purpose))).toEqual(new Set(purposes));
  expect(opened.flatMap(({ purpose, text }) => findInToken(text).map((kind) => `${kind}: ${purpose}`))).toEqual([]);

  // That it has read everything.
  const statuses = [200, 201, 204, 206, 302, 400, 404, 405, 410, 413, 416];
  expect([...new Set(told.map(({ status }) => status))]).toEqual(expect.arrayContaining(statuses));
  const answered = bench.logLines.map((line) => JSON.parse(line) as { route?: string; status?: number });
  const routes = new Set(answered.filter(({ status = 500 }) => status < 400).map(({ route }) => route));
  expect(declaredRoutes().filter((route) => !routes.has(route))).toEqual([]);
}, 120_000);

test('a secret is found as it is, in Base64, in its bytes, and in a token of any purpose', () => {
  const find = createFindSecrets({ campaign: [marks.campaign], listener: ['ab'.repeat(32)] });
  const bytes = idBytes(marks.campaign);
  const inBase64 = ['', 'x', 'xy'].map((before) => Buffer.concat([Buffer.from(before), bytes]).toString('base64url'));
  const ofText = ['base64', 'hex'].map((encoding) => Buffer.from(marks.campaign).toString(encoding as 'hex'));
  const plain = [marks.campaign, marks.campaign.slice(4).toUpperCase(), bytes.toString('latin1')];
  for (const text of [...plain, ...ofText, ...inBase64]) expect(find(`before ${text} after`)).toEqual(['campaign']);
  expect(find(`/${'AB'.repeat(20)}`)).toEqual(['listener']);
  expect(find(newId('cmp'))).toEqual([]);
  const secret = 'f'.repeat(64);
  const keys = createTokenKeys([Buffer.from(secret, 'hex')]);
  for (const purpose of purposes) {
    const now = Math.floor(Date.now() / 1000);
    const token = mintToken(keys, {
      ...{ purpose, host: 'media.test', startsAt: purpose === 'enc' ? 0 : now, expiresAt: now + 60 },
      ...{ subject: Buffer.alloc(16), binding: bytes, flags: 0, workspaceOrdinal: 0, slot: 0, variant: 0 },
    });
    expect(find(openAny(secret, token)!.text)).toEqual(['campaign']);
  }
});
