import type { FleetOptions } from '@longwave/fleet';
import { until } from '@longwave/test-kit';
import pg from 'pg';
import { startTestFleet, type TestFleet } from './_fleet.ts';
import { publishWithAd, type Counts } from './_published-ad.ts';

/** A listener who has every byte that its last response promised. */
interface Heard {
  readonly endedMs: number;
}

/** Asks again, from the enclosure on, until it has a whole file. */
async function listen(enclosureUrl: string, agent: string): Promise<Heard> {
  for (;;) {
    try {
      const response = await fetch(enclosureUrl, {
        headers: { 'user-agent': agent },
        signal: AbortSignal.timeout(10_000),
      });
      const { byteLength: bytes } = await response.arrayBuffer();
      if (response.ok && Number(response.headers.get('content-length')) === bytes)
        return { endedMs: performance.now() };
    } catch {
      // Refused, broken off or too late: the next try.
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

interface Crowd {
  readonly heard: readonly Heard[];
  /** Resolves when so many more listeners have a whole file. */
  readonly afterSome: (more: number) => Promise<void>;
  /** Nobody new comes; resolves when everybody has what they began. */
  readonly end: () => Promise<void>;
}

export interface Stage extends AsyncDisposable {
  readonly world: TestFleet;
  /** Listeners who come one after the other, some at once, each of them once. */
  readonly gather: (atOnce: number) => Crowd;
  /** The counts, once they stay the same for a while. */
  readonly settledCounts: (atLeast: number) => Promise<Counts>;
  /** Rows of the tables of counts that contradict each other; all of them must be 0. */
  readonly contradictions: () => Promise<unknown>;
  /** Slots that the ad was given: by the leases of its goal, and by what is counted of its decisions. */
  readonly slotsGiven: () => Promise<{ readonly leased: number; readonly decided: number }>;
}

/** A fleet with one published episode and one booked ad. @param goal of the ad, in impressions */
export async function openStage(options: Partial<FleetOptions>, goal?: number): Promise<Stage> {
  const world = await startTestFleet(options);
  const { workspaceId, lineItemId, enclosureUrl, countNow } = await publishWithAd(world, undefined, {
    ...(goal !== undefined && { goal }),
  });
  async function query<T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<T> {
    const database = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
    await database.connect();
    try {
      return (await database.query<T>(text, [...values])).rows[0]!;
    } finally {
      await database.end();
    }
  }

  return {
    world,
    gather: (atOnce) => {
      let running = true;
      const heard: Heard[] = [];
      const lanes = Array.from({ length: atOnce }, async (_, lane) => {
        for (let i = 0; running; i++) heard.push(await listen(enclosureUrl, `AntennaPod/9.${lane}.${i}`));
      });
      return {
        heard,
        afterSome: async (more) => {
          const target = heard.length + more;
          await until(`${more} more listeners`, async () => heard.length >= target, { timeoutMs: 90_000 });
        },
        end: async () => {
          running = false;
          await Promise.all(lanes);
        },
      };
    },
    settledCounts: (atLeast) => {
      let last: string | undefined;
      let sinceMs = performance.now();
      return until(
        'the counts to settle',
        async () => {
          // A service that was killed may not answer yet.
          const counts = await countNow().catch(() => undefined);
          const text = JSON.stringify(counts);
          if (counts === undefined || text !== last) sinceMs = performance.now();
          last = text;
          return counts && counts.downloads >= atLeast && performance.now() - sinceMs > 4_000 ? counts : undefined;
        },
        { timeoutMs: 120_000 },
      );
    },
    contradictions: () =>
      query(`
        select
          (select count(*)::int from (select from audience.session where counted
             group by listener_key, episode_id having count(*) > 1) d) as doubled_downloads,
          (select count(*)::int from audience.ad_delivered a where not exists (select from audience.session s
             where (s.listener_key, s.episode_id, s.window_on) = (a.listener_key, a.episode_id, a.window_on)
               and s.counted)) as ads_without_download,
          (select count(*)::int from (select from audience.ad_delivered group by serving_id having count(*) > 1) b)
            as doubled_ads`),
    slotsGiven: async () => {
      const { leased } = await query<{ leased: number }>(
        `select (coalesce((select closed_used from serving.line_pacing where line_item_id = $1), 0)
           + coalesce((select sum(used) from serving.quota_lease where line_item_id = $1 and not counted), 0))::float8 as leased`,
        [lineItemId],
      );
      return { leased, decided: (await world.operator.adCounts(workspaceId, lineItemId)).decided };
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}
