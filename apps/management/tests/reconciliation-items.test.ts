import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import type { PutFindingsRequest } from '@longwave/rpc/serving';
import { statementsOf } from '@longwave/test-kit/statements';
import { createTellDiscrepancies } from '../src/commerce/alerts/tell-discrepancies.ts';
import { openReconciliation, settledMonth, fileSource } from './_examples-reconciliations.ts';
import { withoutTrace } from './_http.ts';
import { createReconciling, createTestLedger } from './_reconciling.ts';
import { api, management } from './_shared-http.ts';
import { person, service } from './_values.ts';
import { createWorld } from './_world.ts';

test('items are read page by page with what people must decide first, by whoever sees campaigns or money; a stranger sees no reconciliation', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  const ledger = createTestLedger(management.clock);
  const month = Date.parse(settledMonth(w.now()).start);
  const days = Array.from({ length: 5 }, (_, nth) => new Date(month + nth * 86_400_000).toISOString().slice(0, 10));
  for (const day of days) ledger.count(lineItem.id, `${day}T05`, 1_000);
  const rows = days.map((day, nth) => `${lineItem.id},${day},${nth < 2 ? 1_000 : 1_000 + nth * 100}\n`);
  const sources = [await fileSource(w, `Line,Date,Impressions\n${rows.join('')}`)];
  const { id } = await openReconciliation(w, lineItem.id, { sources });
  await createReconciling(management).match(w, id, ledger);

  const path = `/workspaces/${w.workspaceId}/reconciliations/${id}/items`;
  const token = api.tokenFor(person(w.workspaceId, ['finance']));
  const first = await api.call(`${path}?limit=2`, { token });
  expect([first.status, first.json.rows.map((row: { day: string }) => row.day)]).toEqual([200, [days[4], days[3]]]);
  expect(first.json.rows[0]).toMatchObject({
    ...{ source: 'gam', ours: 1_000, theirs: 1_400, delta: 400, delta_pct: 40, beyond_tolerance: true },
    ...{ ambiguity: 'none', verdict: null, value: null, adjusted: null },
  });
  const second = await api.call(`${path}?limit=2&cursor=${encodeURIComponent(first.json.next_cursor)}`, { token });
  expect(second.json.rows[0].day).toBe(days[2]);
  const undecided = await api.call(`${path}?undecided=true&line_item_id=${lineItem.id}&source=gam`, { token });
  expect([undecided.json.rows.length, undecided.json.next_cursor]).toEqual([3, undefined]);
  const other = await api.call(`${path}?undecided=true&cursor=${encodeURIComponent(first.json.next_cursor)}`, {
    token,
  });
  expect(other.json.code).toBe('invalid_cursor');
  const editor = api.tokenFor(person(w.workspaceId, ['viewer', 'editor']));
  expect((await api.call(path, { token: editor })).json.code).toBe('not_found');

  const stranger = createWorld(management);
  const foreign = api.tokenFor(stranger.actor);
  const missing = newId('rec');
  const [theirs, none] = await Promise.all(
    [id, missing].map((one) =>
      api.call(`/workspaces/${stranger.workspaceId}/reconciliations/${one}/items`, { token: foreign }),
    ),
  );
  expect(theirs!.status).toBe(404);
  expect(withoutTrace(theirs!).replaceAll(id, 'ID')).toBe(withoutTrace(none!).replaceAll(missing, 'ID'));
});

test('a source that differs on three days is told for an alert of its line item until the verdicts are there; two days are not, and what did not change is not told again', async () => {
  const w = createWorld(management);
  const [three, two] = [(await w.booked()).lineItem.id, (await w.booked()).lineItem.id];
  const ledger = createTestLedger(management.clock);
  const period = settledMonth(w.now());
  const firstMs = Date.parse(period.start);
  const days = [0, 1, 2].map((nth) => new Date(firstMs + nth * 86_400_000).toISOString().slice(0, 10));
  const reconciling = createReconciling(management);
  const rows = days.flatMap((day, at) => {
    for (const id of [three, two]) ledger.count(id, `${day}T05`, 10_000);
    return [`${three},${day},8000`, `${two},${day},${at === 0 ? 10_000 : 8_000}`];
  });
  const opened = await w.send('reconciliation.open', null, {
    ...{ period, scope: { line_item_ids: [three, two] } },
    sources: [await fileSource(w, `Line,Date,Impressions\n${rows.join('\n')}\n`)],
  });
  await reconciling.match(w, opened.id, ledger);
  const put: PutFindingsRequest[] = [];
  const serving = {
    putFindings: async (request: PutFindingsRequest) => {
      if (request.workspaceId === w.workspaceId) put.push(request);
      return {};
    },
  };
  const tell = createTellDiscrepancies({ ...management, serving, logger: { warn: () => undefined } });
  await tell();
  // What has not changed is not read again either.
  expect(await statementsOf(management.pool, tell)).toEqual(['list_reconciliations_in_review']);
  expect(put.map(({ kind, findings }) => [kind, findings.map(({ lineItemId, units }) => [lineItemId, units])])).toEqual(
    [['discrepancy', [[three, 30_000]]]],
  );
  expect(JSON.parse(put[0]!.findings[0]!.detailJson)).toEqual({
    discrepancy: { reconciliation_id: opened.id, source: 'gam', days: 3 },
  });
  for (const item of (await reconciling.items(opened.id)).filter((one) => one.line_item_id === three)) {
    const { version } = await reconciling.find(w, opened.id);
    const changes = { item_id: item.item_id, verdict: 'ours', note: 'Known.' };
    await w.send(
      'reconciliation.decide_item',
      { resource_type: 'reconciliations', id: opened.id, version },
      changes,
      service('operator'),
    );
  }
  const read = (await statementsOf(management.pool, tell)).filter((name) => name === 'list_discrepancies');
  expect([read.length, put.slice(1).map(({ findings }) => findings)]).toEqual([1, [[]]]);
});

test('days that a correction of a whole period leaves below zero are told as no units; a workspace of which something is refused holds no other up, and is told at the next look', async () => {
  const w = createWorld(management);
  const { id: lineItemId } = (await w.booked()).lineItem;
  const ledger = createTestLedger(management.clock);
  const period = settledMonth(w.now());
  const dayBefore = (days: number) => new Date(Date.parse(period.end) - days * 86_400_000).toISOString().slice(0, 10);
  ledger.count(lineItemId, `${period.start.slice(0, 10)}T05`, 300);
  const reconciling = createReconciling(management);
  const sent = async (command: 'decide_item' | 'close', id: string, changes: object) => {
    const { version } = await reconciling.find(w, id);
    const subject = { resource_type: 'reconciliations', id, version };
    await w.send(`reconciliation.${command}`, subject, changes, service('operator'));
  };
  const whole = { columns: { line_item: 'Line', units: 'Impressions' }, time_zone: undefined };
  const none = [await fileSource(w, `Line,Impressions\n${lineItemId},0\n`, whole)];
  const { id: corrected } = await openReconciliation(w, lineItemId, { sources: none });
  await reconciling.match(w, corrected, ledger);
  const [{ item_id: itemId } = { item_id: '' }] = await reconciling.items(corrected);
  await sent('decide_item', corrected, { item_id: itemId, verdict: 'theirs', note: 'None was heard.' });
  await sent('close', corrected, {});
  await reconciling.close(w, corrected, ledger);
  const first = period.start.slice(0, 10);
  const rows = [3, 2, 1].map((days) => `${lineItemId},${dayBefore(days)},200\n`);
  const byDay = [await fileSource(w, `Line,Date,Impressions\n${lineItemId},${first},300\n${rows.join('')}`)];
  const { id } = await openReconciliation(w, lineItemId, { sources: byDay });
  await reconciling.match(w, id, ledger);
  // Items of the same difference have no order of their own.
  const items = (await reconciling.items(id)).map(({ day, ours, verdict }) => [day, ours, verdict]);
  expect(items.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
    [first, 300, 'ours'],
    ...[3, 2].map((days) => [dayBefore(days), 0, null]),
    [dayBefore(1), -300, null],
  ]);

  const [put, failed]: [PutFindingsRequest[], unknown[]] = [[], []];
  const refused = new Set([w.workspaceId]);
  const putFindings = async (request: PutFindingsRequest) => {
    if (refused.delete(request.workspaceId)) throw new Problem('validation_failed');
    put.push(request);
    return {};
  };
  const warn = (what: object) => void failed.push((what as { workspace_id: unknown }).workspace_id);
  const tell = createTellDiscrepancies({ ...management, serving: { putFindings }, logger: { warn } });
  await tell();
  const told = () => put.map(({ workspaceId }) => workspaceId);
  expect([failed, told().length > 0, told().includes(w.workspaceId)]).toEqual([[w.workspaceId], true, false]);
  put.length = 0;
  await tell();
  expect(put.map(({ workspaceId, findings: [one] }) => [workspaceId, one?.units])).toEqual([[w.workspaceId, 0]]);
});

test('verdicts wait for their reviews side by side; one whose item was decided or matched anew meanwhile is not carried out', async () => {
  const w = createWorld(management);
  await w.provisioned();
  await w.known();
  const [{ actor: ann }, { actor: ben }] = [
    await w.member(['viewer', 'finance']),
    await w.member(['viewer', 'finance']),
  ];
  const { id: lineItemId } = (await w.booked({}, undefined)).lineItem;
  const reconciling = createReconciling(management);
  const undecided = async () =>
    (await reconciling.items(opened.id)).flatMap(({ item_id: id, verdict }) => (verdict === null ? [id] : []));
  const month = Date.parse(settledMonth(w.now()).start);
  const [one, two] = [0, 1].map((nth) => new Date(month + nth * 86_400_000).toISOString().slice(0, 10));
  const ledger = createTestLedger(management.clock);
  for (const day of [one, two]) ledger.count(lineItemId, `${day}T05`, 1_000);
  const text = `Line,Date,Impressions\n${lineItemId},${one},1300\n${lineItemId},${two},1200\n`;
  const opened = await openReconciliation(w, lineItemId, { sources: [await fileSource(w, text)] });
  const { version } = await reconciling.match(w, opened.id, ledger);
  const [first, second] = (await undecided()) as [string, string];
  const decide = async (itemId: string, verdict: string) => {
    const changes = { item_id: itemId, verdict, note: 'By mail.' };
    await w.send('reconciliation.decide_item', { ...opened, version }, changes, ann);
    return w.taskOf(opened.id);
  };
  const tasks = [await decide(first, 'theirs'), await decide(second, 'theirs'), await decide(second, 'ours')];
  for (const task of tasks) {
    await w.send('review.approve', task, {}, ben);
    await management.runApproved(w.workspaceId, task.id);
  }
  expect((await reconciling.items(opened.id)).map(({ verdict }) => verdict)).toEqual(['theirs', 'theirs']);
  expect((await reconciling.find(w, opened.id)).attributes.totals).toMatchObject({ undecided: 0, undecided_beyond: 0 });
  expect(await outcomesOf(tasks)).toEqual(['succeeded', 'succeeded', 'version_conflict']);

  const again = await reconciling.find(w, opened.id);
  await w.send('reconciliation.decide_item', again, { item_id: first, verdict: 'ours', note: 'No.' }, ann);
  const late = await w.taskOf(opened.id);
  await w.send('reconciliation.match_again', again, {});
  await reconciling.match(w, opened.id, ledger);
  await w.send('review.approve', late, {}, ben);
  await management.runApproved(w.workspaceId, late.id);
  expect(await outcomesOf([late])).toEqual(['version_conflict']);
  expect(await undecided()).toEqual([first, second]);
});

test('a workspace has at most 20 reconciliations under way, and is told so', async () => {
  const w = createWorld(management);
  const { id: lineItemId } = (await w.booked()).lineItem;
  const sources = [await fileSource(w, `Line,Date,Impressions\n${lineItemId},2026-10-01,1\n`)];
  const firstMs = Date.parse(settledMonth(w.now()).start);
  const open = (nth: number) => {
    const [start, end] = [nth, nth + 1].map((day) => new Date(firstMs + day * 86_400_000).toISOString());
    return openReconciliation(w, lineItemId, { period: { start, end }, sources });
  };
  const { id, version } = await open(0);
  for (let nth = 1; nth < 20; nth++) await open(nth);
  await expect(open(20)).rejects.toMatchObject({
    ...{ code: 'validation_failed', context: { errors: [{ path: '/changes', code: 'too_many' }] } },
  });
  await w.send('reconciliation.cancel', { resource_type: 'reconciliations', id, version }, { cause: 'A trial.' });
  await open(20);
});

test('an external id that is one of ours, or that another line item has or will get in the same source, is refused by every command that sets it', async () => {
  const w = createWorld(management);
  const [one, two] = [(await w.booked()).lineItem, (await w.booked()).lineItem];
  const ids = (id: string, source = 'gam') => ({ external_ids: [{ source, id }] });
  const refused = (code: string) => ({ context: { errors: [{ path: '/changes/external_ids', code }] } });
  const set = (lineItem: typeof one, changes: object) => w.send('line_item.set_external_ids', lineItem, changes);
  let holder = await set(one, ids('G-1'));
  for (const own of [one.id, two.id, String(two.attributes['campaign_id'])])
    await expect(set(two, ids(own))).rejects.toMatchObject(refused('own_id'));
  await expect(set(two, ids('G-1'))).rejects.toMatchObject(refused('id_taken'));
  await expect(w.send('line_item.amend', two, ids('G-1'))).rejects.toMatchObject(refused('id_taken'));
  await expect(w.lineItem(ids('G-1'))).rejects.toMatchObject(refused('id_taken'));
  // Elsewhere, and of somebody else, it is another id; and so is one that is no resource of this workspace.
  const stranger = createWorld(management);
  await stranger.send('line_item.set_external_ids', (await stranger.booked()).lineItem, ids('G-1'));
  const other = await set(two, ids('G-1', 'other'));
  holder = await set(holder, ids(newId('li')));
  const later = new Date(w.now().getTime() + 3_600_000).toISOString();
  await w.send('line_item.amend', holder, { ...ids('G-2'), effective_at: later });
  await expect(set(other, ids('G-2'))).rejects.toMatchObject(refused('id_taken'));
  const both = await Promise.allSettled([set(other, ids('G-3')), w.lineItem(ids('G-3'))]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

/** The states of the operations of review tasks; of a failed one its problem. */
async function outcomesOf(tasks: readonly { readonly attributes: Record<string, unknown> }[]) {
  const ids = tasks.map(({ attributes }) => attributes['operation_id']);
  const { rows } = await management.pool.query<{ id: string; outcome: string }>(
    `select id, coalesce(problem ->> 'code', state) as outcome from operation where id = any($1)`,
    [ids],
  );
  return ids.map((id) => rows.find((row) => row.id === id)?.outcome);
}
