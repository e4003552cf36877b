import { createHash } from 'node:crypto';
import { anyTargeting, type PlanLineItem } from '@longwave/events';
import type { Fleet } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createObjectStore } from '@longwave/object-store';
import { openChannel, readTls } from '@longwave/rpc';
import { ServingServiceService } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { playWithoutDetails } from '@longwave/test-kit/clients';
import canonicalize from 'canonicalize';
import pg from 'pg';
import { mixedPlan } from './decision-mix.ts';
import { compare, median, ratePerSecond, type Row } from './measure.ts';

const lineItems = 1_000;
const countries = 20;
const goal = 100_000_000;
const plays = 2_000;
const atOnce = 32;
const rounds = 5;

const countryOf = (at: number) => `A${String.fromCodePoint(65 + (at % countries))}`;

/** Guaranteed line items of all ages, a twentieth of them in each country. */
const lines = (quantity: number | undefined): PlanLineItem[] =>
  mixedPlan(lineItems).line_items.map((line, at) => ({
    ...line,
    ...{ line_item_id: newId('li'), campaign_id: newId('cmp'), advertiser_id: newId('adv'), type: 'guaranteed' },
    window: { start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' },
    goal: quantity === undefined ? { unit: 'unlimited' } : { unit: 'impressions', quantity },
    break_positions: ['pre'],
    targeting: { ...anyTargeting, countries: { include: [countryOf(at)], exclude: [] } },
    ...{ frequency_caps: [], separation_groups: [], ad_product_categories: [] },
    creatives: line.creatives.map((creative) => ({ ...creative, creative_id: newId('crv') })),
  }));

/** Puts a plan where nodes find it; answers its workspace. */
async function publishLines(fleet: Fleet, client: pg.Client, lineItemsOfPlan: PlanLineItem[]): Promise<string> {
  const workspaceId = newId('ws');
  const plan = { ...mixedPlan(0), workspace_id: workspaceId, floors: [], line_items: lineItemsOfPlan };
  const bytes = Buffer.from(canonicalize(plan)!);
  const digest = createHash('sha256').update(bytes).digest('hex');
  await createObjectStore(fleet.objectStore).put(`plans/${digest}.json`, bytes, { contentType: 'application/json' });
  await client.query(
    `insert into published_plan (serving_plan_id, workspace_id, version, lifecycle_state, digest, effective_from, occurred_at)
     values ($1, $2, 1, 'published', $3, '2026-01-01', now())`,
    [newId('spl'), workspaceId, digest],
  );
  return workspaceId;
}

/** Gives every node leases. */
async function grantLeases(client: pg.Client, workspaceId: string, ids: readonly string[]): Promise<void> {
  await client.query(
    `insert into quota_lease (line_item_id, node_epoch, workspace_id, granted, rate_per_s, burst)
     select id, node_epoch, $1, $2::bigint, $2::bigint, $2::bigint from serving_node cross join unnest($3::text[]) as id where closed_at is null
     on conflict (node_epoch, line_item_id) do update
       set granted = $2::bigint, rate_per_s = $2::bigint, burst = $2::bigint, closed = false, revised_at = now()`,
    [workspaceId, goal / 10, ids],
  );
}

/** `Decide` calls with goals, against the same line items without, in rate and in the time of 99 of 100. What the guard of releases up to 0.7.0 had: docs/pacing.md. */
export async function goalRate(fleet: Fleet): Promise<readonly Row[]> {
  const database = Object.assign(new URL(fleet.engines.postgres.first.adminUrl), { pathname: '/longwave' });
  const client = new pg.Client({ connectionString: database.href });
  await client.connect();
  const channel = openChannel(fleet.addresses['internal-serving'], 'internal-serving', readTls(fleet.operator));
  try {
    await client.query('set search_path = serving');
    const withGoals = lines(goal);
    const ids = withGoals.map((line) => line.line_item_id);
    const paced = await publishLines(fleet, client, withGoals);
    const free = await publishLines(fleet, client, lines(undefined));
    const serving = channel.client(ServingServiceService);
    const decide = (workspaceId: string, at: number) =>
      serving.decide(
        {
          ...playWithoutDetails,
          ...{ decisionId: newId('dec'), workspaceId, podcastId: newId('pod'), episodeId: newId('ep') },
          listenerBucket: Buffer.alloc(0),
          breaks: [
            { key: 'pre', position: 'pre', maxSlots: 2, maxDurationMs: 120_000n, positionMs: 0n, slotRules: [] },
          ],
          ...{ streamFormat: 'mp3/128000/48000/2', country: countryOf(at), atMs: BigInt(Date.now()) },
        },
        { deadlineMs: 5_000 },
      );
    /** The medians of the times of 99 of 100, by what was measured. */
    const p99s = new Map<string, number[]>();
    const measure = async (name: string, workspaceId: string) => {
      for (let country = 0; country < countries; country++)
        await until(async () => {
          const answer = await decide(workspaceId, country).catch(() => undefined);
          return (answer?.picks.length ?? 0) > 0;
        });
      const times: number[] = [];
      const round = await ratePerSecond(plays, atOnce, async (at) => {
        const startedMs = performance.now();
        const { picks } = await decide(workspaceId, at);
        if (picks.length === 0) throw new Error('a play found no credit');
        times.push(performance.now() - startedMs);
      });
      const p99 = times.sort((a, b) => a - b)[Math.floor(0.99 * (plays - 1))]!;
      p99s.set(name, [...(p99s.get(name) ?? []), p99]);
      return round;
    };
    const name = `ad decisions under ${lineItems.toLocaleString('en')} goals by leases`;
    const baselineName = 'the same line items without goals';
    const byLeases = async () => {
      await grantLeases(client, paced, ids);
      return measure('lease', paced);
    };
    const rate = await compare({ name, unit: 'RPC/s', baselineName }, rounds, byLeases, () => measure('free', free));
    const [ours, baseline] = [median(p99s.get('lease')!), median(p99s.get('free')!)];
    return [
      rate,
      {
        ...{ name: `${name}, 99 of 100 (less is better)`, unit: 'ms', baselineName },
        ...{ ours, baseline, ratio: ours / baseline },
      },
    ];
  } finally {
    channel.close();
    await client.end();
  }
}
