import { expect, test } from '@jest/globals';
import type { Pool } from '@longwave/postgres';
import { nextWorkspace, readAges } from '../src/ads/serving-ages.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
let admin: Pool;
useTables((tables) => ({ pool, admin } = tables));

const hourMs = 3_600_000;
const completeUntilMs = Date.UTC(2026, 5, 20, 12);
const agesMs = [2, 6, 24].map((hours) => hours * hourMs);
/** The newest hour whose servings are older than a day. */
const hour = new Date(completeUntilMs - 25 * hourMs);
const query = { workspaceId: 'ws_1', surfaceClass: 'stream', agesMs, completeUntilMs } as const;

interface Given {
  readonly workspaceId?: string;
  readonly surfaceClass?: string;
  readonly decidedAt?: Date;
  /** Stage, hours after the end of the quarter hour of its decision, and quantity. */
  readonly entries?: readonly (readonly [stage: string, hours: number, quantity: number])[];
  readonly reports?: readonly (readonly [event: string, hours: number])[];
}

let count = 0;

/** Stores a serving that was decided and what the ledger recorded of it. */
async function store({ workspaceId = 'ws_1', surfaceClass = 'stream', decidedAt = hour, ...given }: Given) {
  const id = `srv_${count++}`;
  const ended = Math.floor(decidedAt.getTime() / 900_000) * 900_000 + 900_000;
  const after = (hours: number) => new Date(ended + hours * hourMs);
  const decidedHour = new Date(Math.floor(decidedAt.getTime() / hourMs) * hourMs);
  await admin.query(
    `insert into ad_serving (serving_id, decided_at, line_item_id, workspace_id, surface_class) values ($1, $2, 'li_1', $3, $4)`,
    [id, decidedAt, workspaceId, surfaceClass],
  );
  for (const [stage, hours, quantity] of [['decided', 0, 1] as const, ...(given.entries ?? [])])
    await admin.query(
      `insert into ad_entry (recorded_at, methodology_version, lists_version, restates, stage, quantity, serving_id, listener_key, window_on, workspace_id,
         podcast_id, episode_id, campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device, platform)
       values ($1, 'm', 'l', false, $2::text, $3, $4, case when $2 <> 'decided' then 'k' end, case when $2 <> 'decided' then date '2026-06-19' end,
         $5, 'pod', 'ep', 'cmp', 'li_1', 'crv', 'pre', 0, $6, '', '', '', '', '')`,
      [after(hours), stage, quantity, id, workspaceId, decidedHour],
    );
  for (const [event, hours] of given.reports ?? [])
    await admin.query(
      `insert into client_event (fact_id, serving_id, event, sequence, at, late, workspace_id, podcast_id, episode_id, campaign_id, line_item_id,
         creative_id, break_key, slot, listener_key, address_verdict, country, region, lists_version, judgement, counted_at)
       values ($1, $2, $3, 0, $4, false, $5, 'pod', 'ep', 'cmp', 'li_1', 'crv', 'pre', 0, 'k', 'ok', '', '', 'l', 'eligible', $4)`,
      [`fct_${id}_${event}`, id, event, after(hours), workspaceId],
    );
}

const agesOf = async (changes: Partial<Parameters<typeof readAges>[1]> = {}, perHour?: number) =>
  Object.fromEntries(
    (await readAges(pool, { ...query, ...changes }, perHour)).map(({ basis, decided, reached }) => [
      basis,
      [decided, ...reached],
    ]),
  );

test('servings count from the age at which the ledger first recorded that they reached a basis', async () => {
  await store({
    entries: [
      ['served', 1, 1],
      ['confirmed', 3, 1],
    ],
    reports: [
      ['start', 1],
      ['complete', 7],
    ],
  });
  // Its download was moved later, which is not when it was confirmed.
  await store({
    entries: [
      ['confirmed', 1, 1],
      ['confirmed', 20, -1],
      ['confirmed', 20, 1],
    ],
  });
  await store({
    entries: [
      ['confirmed', 1, 1],
      ['confirmed', 20, -1],
    ],
  });
  await store({ entries: [['confirmed', 25, 1]] });
  expect(await agesOf()).toEqual({
    served_bytes: [4, 1, 1, 1],
    ad_delivered: [4, 1, 2, 2],
    client_event: [4, 1, 1, 1],
    completes: [4, 0, 0, 1],
  });
});

test('only servings of the workspace and class, of the week in which all are older than the last age', async () => {
  const confirmed = { entries: [['confirmed', 1, 1]] } as const;
  await store(confirmed);
  await store({ ...confirmed, workspaceId: 'ws_2' });
  await store({ ...confirmed, surfaceClass: 'download' });
  await store({ ...confirmed, decidedAt: new Date(completeUntilMs - 24 * hourMs) });
  await store({ ...confirmed, decidedAt: new Date(completeUntilMs - 9 * 24 * hourMs) });
  expect((await agesOf())['ad_delivered']).toEqual([1, 1, 1, 1]);
  expect(await agesOf({ workspaceId: 'ws_0' })).toEqual({});
  expect(await nextWorkspace(pool, '')).toBe('ws_1');
  expect(await nextWorkspace(pool, 'ws_1')).toBe('ws_2');
  expect(await nextWorkspace(pool, 'ws_2')).toBeUndefined();
});

test('of each hour so many decisions are looked at and no more, so that a workspace with many costs the same', async () => {
  for (let at = 0; at < 4; at++) {
    await store({ entries: [['confirmed', 1, 1]] });
    await store({ decidedAt: new Date(hour.getTime() - hourMs) });
  }
  expect((await agesOf({}, 3))['ad_delivered']).toEqual([6, 3, 3, 3]);
});
