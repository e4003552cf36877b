/**
 * A program: reserves line items in a workspace of 10,000 booked ones, through management and a real forecaster, and prints for each command
 * [seconds of the clock, of management's processor, of the forecaster's] as JSON (`npm run bench -- forecasts`). The past is small and sent by
 * a stand-in in management's process: it is what `_seller-questions.ts` of the forecaster measures.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceView } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { startTestForecaster } from './_forecaster.ts';
import { startTestManagement } from './_management.ts';
import { hour, person } from './_values.ts';
import { createWorld } from './_world.ts';

const lineItems = Number(process.argv[2] ?? 10_000);
/** Reservations after the first, each after the one before was sold: at once, and so long after it that the forecaster was ready for it. */
const [further, afterRests] = [12, 4];
const restMs = 3_000;

await using management = await startTestManagement();
const world = createWorld(management);
const { lineItem } = await world.booked();
const approved: ResourceView[] = [];
for (let at = 0; at <= further + afterRests; at++) approved.push(await world.approvedLineItem());

/** Copies a really booked line item with its assignment. */
async function copyBooked(): Promise<void> {
  const columns = 'workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id';
  await management.pool.query(
    `insert into resource (id, ${columns}, created_at, updated_at)
     select 'li_' || lpad(n::text, 26, '0'), ${columns}, created_at, updated_at
     from resource, generate_series(1, $2::int) n where id = $1`,
    [lineItem.id, lineItems],
  );
  await management.pool.query(
    `insert into resource (id, ${columns}, created_at, updated_at)
     select 'cas_' || lpad(n::text, 26, '0'), workspace_id, resource_type, version, lifecycle_state,
       jsonb_set(attributes, '{line_item_id}', to_jsonb('li_' || lpad(n::text, 26, '0'))), digest, operation_id,
       created_at, updated_at
     from resource, generate_series(1, $2::int) n
     where resource_type = 'creative_assignments' and attributes ->> 'line_item_id' = $1`,
    [lineItem.id, lineItems],
  );
  await management.pool.query('analyze resource');
}
await copyBooked();
const goal = { unit: 'impressions', quantity: 100_000_000 };
const tooMany = await world.approvedLineItem({ goal });

await using forecaster = await startTestForecaster(management, 200);
management.checkAvailability = forecaster.checkAvailability;
/** Seconds of a process' processor. */
const forecasterSeconds = () => {
  const [user, system] = readFileSync(`/proc/${forecaster.process.pid}/stat`, 'utf8')
    .split(') ')[1]!
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
};
const seller = person(world.workspaceId, ['viewer', 'sales']);
/** Throws when the command ends otherwise than it should. */
async function secondsOf(work: () => Promise<unknown>, expected: string): Promise<readonly number[]> {
  const [began, used, theirs] = [performance.now(), process.cpuUsage(), forecasterSeconds()];
  const outcome = await work().then(
    () => 'sold',
    (error: unknown) => {
      if (error instanceof Problem) return error.code;
      throw error;
    },
  );
  if (outcome !== expected) throw new Error(`the command ended with ${outcome}`);
  const { user, system } = process.cpuUsage(used);
  return [(performance.now() - began) / 1000, (user + system) / 1e6, forecasterSeconds() - theirs].map(
    (seconds) => Math.round(seconds * 100) / 100,
  );
}
const expires_at = new Date(world.now().getTime() + hour).toISOString();
const reserve = (line: ResourceView, expected: string) =>
  secondsOf(() => world.send('line_item.reserve', line, { expires_at }, seller), expected);
const [one, ...others] = approved;
const first = await reserve(one!, 'sold');
const next = [];
for (const line of others.slice(afterRests)) next.push(await reserve(line, 'sold'));
const rested = [];
for (const line of others.slice(0, afterRests)) {
  await sleep(restMs);
  rested.push(await reserve(line, 'sold'));
}
// Nothing is sold by these: the plan stays the same.
const refused = [];
for (let at = 0; at < further; at++) refused.push(await reserve(tooMany, 'inventory_not_available'));
process.stdout.write(`${JSON.stringify({ first: [first], next, rested, refused })}\n`);
