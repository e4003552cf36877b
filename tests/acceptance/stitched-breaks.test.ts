import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkFeed, checkRanges, download, type Download, publishPlan } from '@longwave/test-kit/clients';
import { ffmpeg, until } from '@longwave/test-kit';
import { advertisingOf, type Booked } from '../_advertising.ts';
import { createPodcaster, secondsOf, type Installation, type Podcaster } from '../_fleet.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

const contentMs = 200_000;
/** The editor's time of the break, and the silence beside it where it is cut. */
const markerMs = 97_400;
const silence = { fromMs: 98_000, toMs: 99_000 };
const frameMs = 24;

let world: Installation;
let podcaster: Podcaster;
let enclosureUrl: string;
let advertising: ReturnType<typeof advertisingOf>;
let booked: Readonly<Record<'sponsor' | 'capped' | 'house', Booked>>;

const sound = (name: string, seconds: number, hertz: number) => {
  const file = path.join(world.folder, name);
  ffmpeg('-f', 'lavfi', '-i', `sine=frequency=${hertz}:sample_rate=48000:duration=${seconds}`, '-ac', '2', file);
  return file;
};

/** An episode whose sound is interrupted by one second of silence. */
function makeEpisode(): string {
  const file = path.join(world.folder, 'episode.wav');
  const { fromMs, toMs } = silence;
  const quiet = `volume=enable='between(t,${fromMs / 1000},${toMs / 1000})':volume=0`;
  const source = `anoisesrc=color=pink:sample_rate=48000:duration=${contentMs / 1000}:seed=3,${quiet}`;
  ffmpeg('-f', 'lavfi', '-i', source, '-ac', '2', file);
  return file;
}

async function publishEpisode(title: string, audio: string): Promise<string> {
  const { productionId, episodeId } = await podcaster.newProduction(audio, title);
  await podcaster.rest.put(`/episodes/${episodeId}/chapters`, {
    chapters: [
      { start_ms: 0, title: 'Hello' },
      { start_ms: 60_000, title: 'The long one' },
      { start_ms: 150_000, title: 'Goodbye' },
    ],
  });
  await podcaster.rest.put(`/episodes/${episodeId}/markers`, {
    markers: [
      { key: 'middle', kind: 'mid', position_ms: markerMs, max_slots: 2 },
      { key: 'end', kind: 'post', position_ms: contentMs, max_slots: 1 },
    ],
  });
  await podcaster.rest.put(`/episodes/${episodeId}/transcripts`, {
    transcripts: [
      {
        language: 'en',
        format: 'vtt',
        content: 'WEBVTT\n\n00:00:10.000 --> 00:00:12.000\nBefore.\n\n00:02:40.000 --> 00:02:42.000\nAfter.\n',
      },
    ],
  });
  await podcaster.rest.post(`/productions/${productionId}/start?publish_episode=true`);
  await podcaster.state(productionId, 'encoded');
  return episodeId;
}

beforeAll(async () => {
  world = await openSharedInstallation();
  podcaster = await createPodcaster(world);
  advertising = advertisingOf(world, podcaster);
  await publishEpisode('Stitched', makeEpisode());
  enclosureUrl = (await until('the feed', () => checkFeed(podcaster.feedUrl))).enclosureUrl;
  booked = {
    sponsor: await advertising.book({
      name: 'Harbour Radio',
      type: 'sponsorship',
      goal: { unit: 'share_pct', quantity: 100 },
      positions: ['mid'],
      ad: sound('sponsor.wav', 12, 440),
      clickUrl: 'https://sponsor.example/offer?from=episode',
    }),
    capped: await advertising.book({
      name: 'Tidewater Tea',
      type: 'guaranteed',
      goal: { unit: 'impressions', quantity: 1000 },
      positions: ['pre'],
      ad: sound('capped.wav', 10, 550),
      caps: [{ max: 1, per: 'listener_bucket', window_seconds: 86_400 }],
    }),
    house: await advertising.book({
      name: 'Our own',
      type: 'house',
      goal: { unit: 'unlimited' },
      positions: ['mid', 'post'],
      ad: sound('house.wav', 5, 660),
    }),
  };
  await publishPlan(world.operator, podcaster.account.workspaceId);
}, 300_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

interface Span {
  readonly start_ms: number;
  readonly duration_ms: number;
}
interface Timeline {
  readonly duration_ms: number;
  readonly parts: readonly (Span & {
    readonly kind: string;
    readonly key?: string;
    readonly content_start_ms?: number;
    readonly slots?: readonly (Span & { readonly event_url: string; readonly click_url?: string })[];
  })[];
}

interface Play extends Download {
  readonly timeline: Timeline;
  /** A file beside the audio, under the same token. */
  readonly beside: (name: string) => Promise<Response>;
}

/** Every play so far by its address: a listener who asks for an episode again has the same play. */
const plays = new Map<string, Timeline>();

/** Downloads the enclosure as this listener. */
async function play(agent: string, enclosure = enclosureUrl): Promise<Play> {
  const got = await download(enclosure, agent);
  const headers = { 'user-agent': agent };
  const beside = (name: string) => fetch(got.mediaUrl.replace(/[^/]+$/, name), { headers });
  const timeline = (await (await beside('timeline.json')).json()) as Timeline;
  plays.set(got.mediaUrl, timeline);
  return { ...got, timeline, beside };
}

const shapeOf = ({ timeline }: Play) =>
  timeline.parts.map(({ kind, key, slots }) => (key === undefined ? kind : `${key} ${slots?.length}`));

/** How often an ad, known by its length, was in all plays so far. */
const givenIn = ({ durationMs }: Booked) =>
  [...plays.values()].flatMap(({ parts }) =>
    parts.flatMap(({ slots = [] }) => slots.filter(({ duration_ms: ms }) => ms === durationMs)),
  ).length;

const countsOf = ({ lineItemId }: Booked) => world.operator.adCounts(podcaster.account.workspaceId, lineItemId);

test('pre, mid and post rolls stand where they belong, cut into the silence, and everything beside the audio knows it', async () => {
  const heard = await play('AntennaPod/3.5.0');
  expect(shapeOf(heard)).toEqual(['pre 1', 'content', 'middle 2', 'content', 'end 1']);
  const { parts, duration_ms: totalMs } = heard.timeline;
  const cutMs = parts[3]!.content_start_ms!;
  expect(cutMs).toBeGreaterThan(silence.fromMs);
  expect(cutMs).toBeLessThan(silence.toMs);

  const file = path.join(world.folder, 'heard.mp3');
  writeFileSync(file, heard.bytes);
  const { sponsor, capped, house } = booked;
  const expectedMs = contentMs + capped.durationMs + sponsor.durationMs + 2 * house.durationMs;
  expect(Math.abs(totalMs - expectedMs)).toBeLessThanOrEqual(frameMs);
  expect(Math.abs(secondsOf(file) * 1000 - totalMs)).toBeLessThanOrEqual(frameMs);
  expect(await checkRanges(heard, [])).toBeGreaterThan(20);

  const preMs = capped.durationMs;
  const insideMs = preMs + sponsor.durationMs + house.durationMs;
  const { chapters } = (await (await heard.beside('chapters.json')).json()) as { chapters: { startTime: number }[] };
  const starts = [preMs, 60_000 + preMs, 150_000 + insideMs];
  expect(chapters.map(({ startTime }) => Math.round(startTime * 1000))).toEqual(starts);
  const tagged = spawnSync('ffprobe', ['-v', 'error', '-show_chapters', '-of', 'json', file], { encoding: 'utf8' });
  const inTag = (JSON.parse(tagged.stdout) as { chapters: { start_time: string }[] }).chapters;
  expect(inTag.map(({ start_time: start }) => Math.round(Number(start) * 1000))).toEqual(starts);
  const cues = (await (await heard.beside('transcript.vtt')).text()).match(/[0-9:.]+(?= --> )/g)!;
  const msOf = (time: string) => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
  expect(cues.map((time) => Math.round(msOf(time)))).toEqual([10_000 + preMs, 160_000 + insideMs]);
});

test('a listener keeps an ad cap over all episodes, another one does not share it', async () => {
  await publishEpisode('Second', path.join(world.folder, 'episode.wav'));
  const second = await until('the second episode', async () => {
    const found = await checkFeed(podcaster.feedUrl);
    return found?.enclosureUrl === enclosureUrl ? undefined : found?.enclosureUrl;
  });
  expect(shapeOf(await play('AntennaPod/3.5.0', second))).not.toContain('pre 1');
  expect(shapeOf(await play('Overcast/3.0', second))).toContain('pre 1');
});

test('every ad is decided, delivered and billed once, house ads are never billed, and anybody can count it again', async () => {
  const only = 'Castro/2026.1';
  const looks = await fetch(enclosureUrl, { method: 'HEAD', headers: { 'user-agent': 'Looker/1' } });
  expect(looks.ok).toBe(true);
  const before = { sponsor: givenIn(booked.sponsor), house: givenIn(booked.house) };
  await play(only);
  await play(only);
  // Plays were taken whole, and those of other tests may be told later than these: all of them are waited for, by what they held.
  const given = { sponsor: givenIn(booked.sponsor), house: givenIn(booked.house) };
  expect(given).toEqual({ sponsor: before.sponsor + 1, house: before.house + 2 });
  const counted = (of: Booked, ads: number) =>
    until('every ad so far to be counted', async () => {
      const counts = await countsOf(of);
      return counts.decided >= ads && counts.delivered >= ads ? counts : undefined;
    });
  expect(await counted(booked.sponsor, given.sponsor)).toMatchObject({
    decided: given.sponsor,
    delivered: given.sponsor,
    billable: given.sponsor,
  });
  expect(await counted(booked.house, given.house)).toMatchObject({
    decided: given.house,
    delivered: given.house,
    billable: 0,
  });

  const script = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');
  const env = { ...process.env, DATABASE_URL: world.fleet.databaseUrls['audience'] };
  const recount = (...args: string[]) =>
    spawnSync(process.execPath, [script, 'recount', ...args], { encoding: 'utf8', env });
  const facts = path.join(world.folder, 'facts.jsonl.gz');
  const exported = recount('export', '--out', facts);
  expect([exported.status, exported.stderr]).toEqual([0, expect.any(String)]);
  const compared = recount('compare', facts, '--window', 'all');
  expect([compared.status, compared.stdout]).toEqual([0, expect.stringContaining('downloads')]);
});

test('a player reports at the addresses of its play, and a click leads to the approved page', async () => {
  const heard = await play('Fountain/1.2');
  const slot = heard.timeline.parts.find(({ key }) => key === 'middle')!.slots!.find((one) => one.click_url)!;
  const headers = { 'user-agent': 'Fountain/1.2' };
  const before = (await countsOf(booked.sponsor)).events;
  expect((await fetch(`${slot.event_url}?e=complete`, { method: 'POST', headers })).status).toBe(204);
  expect((await fetch(`${slot.event_url}?e=complete`, { headers })).status).toBe(204);
  const click = await fetch(slot.click_url!, { headers, redirect: 'manual' });
  expect([click.status, click.headers.get('location')]).toEqual([302, 'https://sponsor.example/offer?from=episode']);
  const more = await until('the reports to be counted', async () => {
    const { events } = await countsOf(booked.sponsor);
    return (events['click'] ?? 0) > (before['click'] ?? 0) ? events : undefined;
  });
  expect(more['complete'] ?? 0).toBe((before['complete'] ?? 0) + 1);
});

test('a halted creative is gone within five seconds: from new plays and from the play of who asks again', async () => {
  const agent = 'Pocket Casts/7';
  const before = await play(agent);
  const { creativeId } = booked.sponsor;
  await advertising.send('serving.halt', 'serving_halts', {
    scope: { kind: 'creative', creative_id: creativeId },
    cause: 'The brand asked for it.',
  });
  const haltedMs = performance.now();
  const sponsored = ({ timeline }: Play) =>
    timeline.parts.some(({ slots }) => slots?.some(({ duration_ms: ms }) => ms === booked.sponsor.durationMs));
  expect(sponsored(before)).toBe(true);
  let asked = 0;
  await until('the halt', async () => {
    // Of every process, where there are two.
    for (let n = 0; n < 4; n++) if (sponsored(await play(`New/${asked++}`))) return false;
    return true;
  });
  expect(performance.now() - haltedMs).toBeLessThan(5_000 + 1_000);
  const again = await play(agent);
  expect(sponsored(again)).toBe(false);
  expect(again.etag).not.toBe(before.etag);
  const resumed = await fetch(again.mediaUrl, {
    headers: { 'user-agent': agent, range: 'bytes=1000-1999', 'if-range': before.etag },
  });
  expect(resumed.status).toBe(200);
  const old = await fetch(before.mediaUrl, { headers: { 'user-agent': agent } });
  expect(Buffer.from(await old.arrayBuffer()).equals(before.bytes)).toBe(true);
});
