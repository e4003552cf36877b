/**
 * A program: measures ticks of the pacer at many line items and nodes, in turn with the bare query of all leases, and prints the times as JSON
 * (`npm run bench -- pacing`).
 */
import { startPacing } from './_pacer.ts';
import { hourMs, plannedLine } from './_planned-line.ts';

const [lineItems, nodes, asked] = [10_000, 8, 2_000];
/** The pacer takes line items up some hundreds at a time. */
const warming = 30;
const rounds = 15;

await using pacing = await startPacing();
const { pool, world } = pacing;
const zones = ['Europe/Berlin', 'America/New_York', 'UTC', 'Asia/Tokyo'] as const;
world.nowMs = Date.UTC(2027, 2, 1, 10, 20);
world.lines = Array.from({ length: lineItems }, (_, at) =>
  plannedLine(world.nowMs, {
    ...{ workspaceId: `ws_${at % 20}`, campaignId: `cmp_${at >> 2}`, mode: 'even', goal: 10_000 + (at % 7) * 5_000 },
    ...{ timeZone: zones[at % zones.length]!, windowStartMs: world.nowMs - (1 + (at % 10) * 24) * hourMs },
    windowEndMs: world.nowMs + 20 * 24 * hourMs,
    // Half of the campaigns have budgets.
    ...(at % 8 < 4 && { campaignBudgetMicros: 1e12, unitPriceMicros: 5_000_000 }),
  }),
);
const epochs: number[] = [];
for (let node = 0; node < nodes; node++) epochs.push(await pacing.newNode());
await pool.query(
  `insert into quota_lease (node_epoch, line_item_id, workspace_id, granted, rate_per_s, burst)
   select n, l, 'ws', 20, 1, 3 from unnest($1::bigint[]) n cross join unnest($2::text[]) l`,
  [epochs, world.lines.map((line) => line.lineItemId)],
);
await pool.query('vacuum analyze quota_lease').catch(() => undefined);

const ids = world.lines.slice(0, asked).map((line) => line.lineItemId);
let second = 0;

/** What happens in a second: every node is asked for the same line items, and one gives slots of a quarter of them. */
async function play(): Promise<void> {
  world.nowMs += 1_000;
  second++;
  for (const [at, nodeEpoch] of epochs.entries()) {
    const demand = ids.map((id, nth) => [id, { asked: second + ((nth + at) % 5), used: 0, refused: 0 }]);
    await pool.query('update serving_node set seen_at = now(), demand = $2 where node_epoch = $1', [
      nodeEpoch,
      JSON.stringify(Object.fromEntries(demand)),
    ]);
  }
  await pool.query(
    'update quota_lease set used = least(granted, used + 1) where node_epoch = $1 and line_item_id = any ($2)',
    [epochs[second % nodes], ids.filter((_, at) => at % 4 === second % 4)],
  );
}

const timeOf = async (work: () => Promise<unknown>) => {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - began, cpuMs: (user + system) / 1_000 };
};

const pacer = await pacing.newPacer();
for (let at = 0; at < warming; at++) {
  await play();
  await pacer.tick();
}
const [ticks, queries] = [[], []] as [number[], number[]];
let cpuMs = 0;
for (let at = 0; at < rounds; at++) {
  await play();
  const tick = await timeOf(() => pacer.tick());
  const query = await timeOf(() =>
    pool.query(
      `select node_epoch::float8, string_agg(line_item_id, ','), string_agg(granted::text, ','), string_agg(used::text, ',')
       from quota_lease where not counted group by node_epoch`,
    ),
  );
  ticks.push(tick.ms);
  queries.push(query.ms);
  cpuMs += tick.cpuMs / rounds;
}
console.log(JSON.stringify({ ticks, queries, cpuMs }));
