import path from 'node:path';
import { readAudienceLists, recount, unionIntervals, userAgentDigest } from '@longwave/audience';
import { renderMultirange } from '@longwave/audience-store';
import { createEventBus, type EventBus } from '@longwave/event-bus';
import {
  topics,
  type ByteRangeServed,
  type DeliveryFact,
  type MediaRangeServed,
  type TrackDescribed,
  type UserAgentSeen,
} from '@longwave/events';
import { workspaceRoot, type Fleet } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { compare, type Round, type Row } from './measure.ts';

const userAgent = 'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)';
const digest = userAgentDigest(userAgent)!;
const totalBytes = 2_081_000;
export const factsOfDownload = 10;

export const seen = (): UserAgentSeen => ({
  kind: 'user_agent_seen',
  fact_id: newId('req'),
  at: '2026-11-02T00:00:00.000Z',
  user_agent_digest: digest,
  user_agent: userAgent,
});

/** Whole downloads with a pre-roll, each in two requests of five facts, as many listeners, over a day. */
export function downloadFacts(downloads: number, workspaceId: string): ByteRangeServed[] {
  const requestIds = Array.from({ length: downloads * 2 }, () => newId('req'));
  const ad = {
    ...{ campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1', break_key: 'pre', slot: 0, billable: true },
    serving_id: `srv ${workspaceId}`,
  };
  const parts: ByteRangeServed['parts'] = [
    { kind: 'header', from: 0, to: 1000, duration_ms: 0 },
    { kind: 'ad', from: 1000, to: 161_000, duration_ms: 10_000, ad },
    { kind: 'content', from: 161_000, to: totalBytes, duration_ms: 120_000 },
  ];
  const midnight = Date.parse('2026-11-02T00:00:00Z');
  return Array.from({ length: downloads * factsOfDownload }, (_, nth) => {
    const listener = Math.floor(nth / factsOfDownload);
    const request = Math.floor(nth / 5);
    const from = (nth % factsOfDownload) * (totalBytes / factsOfDownload);
    const at = new Date(midnight + ((listener * 7919) % 86_000) * 1000 + (request % 2) * 5000).toISOString();
    return {
      kind: 'byte_range_served',
      fact_id: `${requestIds[request]}:${nth % 5}`,
      request_id: requestIds[request]!,
      started_at: at,
      at,
      workspace_id: workspaceId,
      podcast_id: `pod ${listener % 10}`,
      episode_id: `ep ${listener % 50}`,
      arrangement_id: `arr ${workspaceId} ${listener % 50}`,
      method: 'GET',
      status: 206,
      requested: [[0, totalBytes]],
      written: [[from, from + totalBytes / factsOfDownload]],
      total_bytes: totalBytes,
      parts,
      published_at: '2026-10-01T00:00:00.000Z',
      listener_key: `${workspaceId} ${listener}`,
      address_key: `${workspaceId} ${listener % 5000}`,
      address_verdict: 'ok',
      user_agent_digest: digest,
      prefetch: false,
      preload: false,
      internal: false,
      country: 'DE',
      region: 'unknown',
      late: false,
      lists_version: 'bench',
    };
  });
}

const trackOf = (track: string, cells: number): TrackDescribed => ({
  ...{ kind: 'track_described', fact_id: `track ${track}`, at: '2026-11-02T00:00:00.000Z', track },
  ...{ media: 'audio', timescale: 48_000, part: 0, parts: 1 },
  cells: Array.from({ length: cells }, (_, nth) => [605 + nth * 70_000, 70_000, nth * 144_000, 144_000]),
});
/** As long as the content and the ad of `downloadFacts`, about. */
const content = trackOf('content', 40);
const ad = trackOf('ad', 4);

/** The same downloads as plays of HLS: a fact for each segment of two cells, one every 6 s. */
function playFacts(downloads: readonly ByteRangeServed[]): MediaRangeServed[] {
  const segments = [ad, content].flatMap(({ track, cells }) =>
    Array.from({ length: cells.length / 2 }, (_, nth) => ({ track, from: cells[nth * 2]![0], size: cells.length })),
  );
  return downloads
    .filter((_, nth) => nth % factsOfDownload === 0)
    .flatMap(({ arrangement_id: presentation, parts, kind: _, ...served }) =>
      segments.map(({ track, from, size }, nth): MediaRangeServed => {
        const started_at = new Date(Date.parse(served.started_at) + nth * 6_000).toISOString();
        const written: [number, number][] = [[from, from + 140_000]];
        return {
          ...{ ...served, kind: 'media_range_served', track, presentation, written, requested: written, started_at },
          ...{ fact_id: `${served.fact_id} ${nth}`, total_bytes: 605 + size * 70_000 },
          play_id: served.listener_key,
          ...(track === 'ad' && { ad: parts.find((part) => part.ad)!.ad }),
        };
      }),
    );
}

/** Plays counted a second by the pure core on one processor, against downloads of an MP3 as long. */
export function playRate(): Promise<Row> {
  const { userAgents } = readAudienceLists(path.join(workspaceRoot, 'libs/audience/data'), Date.now);
  const downloads = downloadFacts(4_000, 'ws_core');
  const rate = (facts: readonly DeliveryFact[]) => {
    const started = performance.now();
    const { sessions } = recount([seen(), content, ad, ...facts], userAgents);
    const counted = sessions.filter(({ session: { download } }) => download?.ads.length === 1).length;
    if (counted !== 4_000) throw new Error('not every download was counted');
    return Promise.resolve({ value: (counted * 1000) / (performance.now() - started), items: counted });
  };
  const plays = playFacts(downloads);
  const facts = `${plays.length / 4_000} facts a play, ${factsOfDownload} a download`;
  return compare(
    { name: `counting plays of HLS (pure, one core; ${facts})`, unit: 'plays/s', baselineName: 'downloads of MP3' },
    5,
    () => rate(plays),
    () => rate(downloads),
  );
}

/** Facts counted a second by the pure core on one processor, all windows and rule 16, against parsing the same facts as JSON. */
export function coreRate(): Promise<Row> {
  const { userAgents } = readAudienceLists(path.join(workspaceRoot, 'libs/audience/data'), Date.now);
  const facts = downloadFacts(10_000, 'ws_core');
  const texts = facts.map((fact) => JSON.stringify(fact));
  const all = [seen(), ...facts];
  const rate = (work: () => number) => {
    const started = performance.now();
    if (work() !== 10_000) throw new Error('not every download was counted');
    return Promise.resolve({ value: (facts.length * 1000) / (performance.now() - started), items: facts.length });
  };
  return compare(
    { name: 'counting (pure, one core)', unit: 'facts/s', baselineName: 'JSON.parse of the same facts' },
    5,
    () => rate(() => recount(all, userAgents).sessions.filter(({ session }) => session.download).length),
    () => rate(() => texts.map((text) => JSON.parse(text) as ByteRangeServed).length / factsOfDownload),
  );
}

/** Appends the same rows to a table like `fact`, in transactions as large as the sink's. */
async function insertBare(pool: Pool, facts: readonly ByteRangeServed[]): Promise<void> {
  const multirange = (intervals: ByteRangeServed['written']) => renderMultirange(unionIntervals(intervals));
  for (let at = 0; at < facts.length; at += 500)
    await pool.query(
      `insert into bare_fact select * from json_populate_recordset(null::bare_fact, $1) order by fact_id on conflict do nothing`,
      [
        JSON.stringify(
          facts.slice(at, at + 500).map(({ parts, ...fact }) => ({
            ...fact,
            layout_digest: String(parts.length),
            requested: multirange(fact.requested),
            written: multirange(fact.written),
            address_safe: false,
            judgement: 'eligible',
            judged_by: 'bench',
          })),
        ),
      ],
    );
}

/** Puts facts on the bus as public-delivery does. */
export const publishFacts = (bus: EventBus, facts: readonly (ByteRangeServed | UserAgentSeen)[]): Promise<void> =>
  bus.publish(
    facts.map((fact) => ({
      topic: topics.deliveryFacts,
      key: fact.kind === 'user_agent_seen' ? fact.user_agent_digest : `${fact.listener_key}${fact.episode_id}`,
      id: fact.fact_id,
      type: fact.kind,
      payload: fact,
    })),
  );

export interface Counting extends AsyncDisposable {
  /** Downloads of a new workspace, from the bus until the hourly numbers and the facts are durable; an item is a fact. */
  readonly count: () => Promise<Round>;
  /** Bare inserts of the same rows. */
  readonly insertBare: () => Promise<Round>;
}

/** Opens measurements of the counting of a fleet whose bus is Redis. */
export async function openCounting(fleet: Fleet): Promise<Counting> {
  await using stack = new AsyncDisposableStack();
  const pool = stack.adopt(createPool(fleet.adminDatabaseUrl, 'audience', { name: 'bench' }), (each) => each.end());
  const bus = stack.use(await createEventBus({ kind: 'redis', redisUrl: fleet.redisUrl, clientName: 'bench' }));
  const downloads = 2_000;
  const counted = async (workspaceId: string) => {
    const { rows } = await pool.query<{ downloads: number }>(
      'select coalesce(sum(downloads), 0)::int as downloads from download_hour where workspace_id = $1',
      [workspaceId],
    );
    if (rows[0]!.downloads !== downloads) return undefined;
    // Reads the whole table, so only at the end.
    const all = await pool.query<{ facts: number }>('select count(*)::int as facts from fact where workspace_id = $1', [
      workspaceId,
    ]);
    return all.rows[0]!.facts === downloads * factsOfDownload ? true : undefined;
  };
  const timed = async (work: (facts: readonly ByteRangeServed[], workspaceId: string) => Promise<unknown>) => {
    const workspaceId = newId('ws');
    const facts = downloadFacts(downloads, workspaceId);
    const started = performance.now();
    await work(facts, workspaceId);
    return { value: (facts.length * 1000) / (performance.now() - started), items: facts.length };
  };
  stack.defer(async () => void (await pool.query('drop table if exists bare_fact')));
  await pool.query('create table bare_fact (like fact including all)');
  await publishFacts(bus, [seen()]);
  const owned = stack.move();
  return {
    count: () =>
      timed(async (facts, workspaceId) => {
        for (let at = 0; at < facts.length; at += 1000) await publishFacts(bus, facts.slice(at, at + 1000));
        await until('counting', () => counted(workspaceId), { timeoutMs: 120_000 });
      }),
    insertBare: () => timed((facts) => insertBare(pool, facts)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Facts a second from the bus to durable hourly numbers by the fleet's one sink, against bare inserts of the same rows. */
export async function countingRate(fleet: Fleet): Promise<Row> {
  await using counting = await openCounting(fleet);
  return await compare(
    { name: 'counting (bus to rollup)', unit: 'facts/s', baselineName: 'bare inserts of the same rows' },
    3,
    counting.count,
    counting.insertBare,
  );
}
