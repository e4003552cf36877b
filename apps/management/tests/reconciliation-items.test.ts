import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { openReconciliation, settledMonth, fileSource } from './_examples-reconciliations.ts';
import { withoutTrace } from './_http.ts';
import { createReconciling, createTestLedger } from './_reconciling.ts';
import { api, management } from './_shared-http.ts';
import { person } from './_values.ts';
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
  expect((await api.call(path, { token: editor })).json.code).toBe('permission_denied');

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
