import type { ResourceView } from '@longwave/events';
import { replaceItems, type NewItem } from '../src/commerce/reconciliations/item-table.ts';
import { transaction } from '@longwave/postgres';
import { creates, on, type Examples } from './_example.ts';
import { service } from './_values.ts';
import type { World } from './_world.ts';

const dayMs = 86_400_000;
const cause = 'The buyer sends other numbers.';

/** The last whole month of UTC that is over by seven days. */
export function settledMonth(now: Date) {
  const at = new Date(now.getTime() - 8 * dayMs);
  const first = (months: number) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1)).toISOString();
  return { start: first(-1), end: first(0) };
}

const columns = { line_item: 'Line', day: 'Date', units: 'Impressions' };

/** A source with an uploaded file. */
export async function fileSource(w: World, text: string | Buffer, changes: object = {}) {
  const upload = await w.upload('counts.csv', typeof text === 'string' ? Buffer.from(text) : text, 'private');
  return {
    ...{ kind: 'third_party', name: 'gam', upload_ref: upload.id, columns },
    ...{ counting_basis: 'ad_delivered', time_zone: 'UTC', ...changes },
  };
}

/** What opens a reconciliation of a line item that was booked. */
export async function reconciliationChanges(w: World, lineItemId?: string, changes: object = {}) {
  const id = lineItemId ?? (await w.booked()).lineItem.id;
  const period = settledMonth(w.now());
  const text = `Line,Date,Impressions\n${id},${period.start.slice(0, 10)},1200\n`;
  return { period, scope: { line_item_ids: [id] }, sources: [await fileSource(w, text)], ...changes };
}

export const openReconciliation = async (w: World, lineItemId?: string, changes: object = {}) =>
  w.send('reconciliation.open', null, await reconciliationChanges(w, lineItemId, changes));

async function begun(w: World) {
  const open = await openReconciliation(w);
  const lease = await w.lease('match_reconciliation', open.id);
  return {
    reconciliation: await w.send('reconciliation.begin_match', open, {}, service('management'), lease),
    lease,
  };
}

const itemId = 'a'.repeat(24);
const item: NewItem = {
  ...{ item_id: itemId, source: 'gam', line_item_id: 'li_1', creative_id: null, day: null, ours: 1000, theirs: 1200 },
  matched: null,
  ...{ ours_basis: 'ad_delivered', theirs_basis: 'ad_delivered', ambiguity: 'none', beyond: true, verdict: null },
};
const matched = (undecided: number) => ({
  known_at: '2026-11-20T10:00:00.000Z',
  totals: { items: 1, ours: 1000, theirs: 1200, for_people: 1, undecided, undecided_beyond: undecided },
  found: [{ name: 'gam', rows: 1, outside_period: 0, outside_scope: 0, unknown_rows: 0, unknown_ids: [] }],
});

/** One with an item that people must decide, or with one that they have decided already. */
async function reviewed(w: World, undecided = 1): Promise<ResourceView> {
  const { reconciliation, lease } = await begun(w);
  const at = { workspaceId: w.workspaceId, reconciliationId: reconciliation.id, version: 1 };
  await transaction(w.pool, (tx) => replaceItems(tx, at, [undecided === 0 ? { ...item, verdict: 'ours' } : item]));
  return w.send('reconciliation.record_match', reconciliation, matched(undecided), service('management'), lease);
}

async function closing(w: World) {
  const reconciliation = await w.send('reconciliation.close', await reviewed(w, 0), {}, service('operator'));
  return { reconciliation, lease: await w.lease('close_reconciliation', reconciliation.id) };
}

const problem = { code: 'gave_up', detail: 'Not this time.' };

/** Valid requests for the commands of reconciliations. */
export const reconciliationExamples = {
  'reconciliation.open': async (w) => creates('reconciliations', await reconciliationChanges(w), w.actor),
  'reconciliation.match_again': async (w) => on(await reviewed(w), {}, w.actor),
  'reconciliation.begin_match': async (w) => {
    const open = await openReconciliation(w);
    return on(open, {}, service('management'), await w.lease('match_reconciliation', open.id));
  },
  'reconciliation.record_match': async (w) => {
    const { reconciliation, lease } = await begun(w);
    return on(reconciliation, matched(1), service('management'), lease);
  },
  'reconciliation.fail_match': async (w) => {
    const { reconciliation, lease } = await begun(w);
    return on(reconciliation, { problem }, service('management'), lease);
  },
  'reconciliation.decide_item': async (w) =>
    on(await reviewed(w), { item_id: itemId, verdict: 'agreed_value', value: 1100, note: 'Half each.' }, w.actor),
  'reconciliation.close': async (w) => on(await reviewed(w, 0), {}, w.actor),
  'reconciliation.record_close': async (w) => {
    const { reconciliation, lease } = await closing(w);
    return on(reconciliation, { adjustments: 1, units: 200 }, service('management'), lease);
  },
  'reconciliation.fail_close': async (w) => {
    const { reconciliation, lease } = await closing(w);
    return on(reconciliation, { problem }, service('management'), lease);
  },
  'reconciliation.cancel': async (w) => on(await reviewed(w), { cause }, w.actor),
} satisfies Examples;
