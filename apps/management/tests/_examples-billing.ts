import type { ResourceView } from '@longwave/events';
import { creates, on, type Examples } from './_example.ts';
import { digest, hour, service } from './_values.ts';
import type { World } from './_world.ts';

const operator = service('operator');
const machine = service('management');
const cause = 'The customer asked for it.';
const problem = { code: 'gave_up', detail: 'Not this time.' };

/** A campaign with a flight that has begun, and the hour until now. */
async function begunCampaign(w: World) {
  const { campaign, lineItem } = await w.delivering();
  const end = Math.floor(w.now().getTime() / hour) * hour;
  // What is known now is settled by then.
  w.ahead(5_000);
  const period = { start: new Date(end - hour).toISOString(), end: new Date(end).toISOString() };
  return { lineItem, request: { campaign_id: campaign.id, period, waive_reconciliation: { reason: cause } } };
}

/** A draft that is being computed. Asked for by the operator, whose commands need no review. */
async function requested(w: World) {
  const { lineItem, request } = await begunCampaign(w);
  const statement = await w.send('billing_statement.generate', null, request, operator);
  return { lineItem, statement, lease: await w.lease('generate_statement', statement.id) };
}

const contentOf = (lineItem: ResourceView) => ({
  evidence: {
    adjustments: { count: 0, sha256: digest },
    methodology_version: '3',
    lists_version: '7',
    inputs_digest: digest,
  },
  lines: [
    {
      ...{ line_item_id: lineItem.id, kind: 'charge', name: 'Pre-roll', rate_from: '2026-11-01T00:00:00.000Z' },
      ...{ model: 'cpm', price_micros: '18000000', basis: 'ad_delivered', units: 10, days: 0, amount_micros: '180000' },
    },
  ],
  total_micros: '180000',
});

async function drafted(w: World) {
  const { lineItem, statement, lease } = await requested(w);
  return w.send('billing_statement.record_draft', statement, contentOf(lineItem), machine, lease);
}

async function issued(w: World) {
  const statement = await w.send('billing_statement.issue', await drafted(w), {}, operator);
  return { statement, lease: await w.lease('store_statement', statement.id) };
}

const filesOf = ({ attributes }: ResourceView) =>
  (attributes['documents'] as { format: string }[]).map((each) => ({
    ...each,
    storage_key: `statements/${each.format}`,
  }));

async function stored(w: World) {
  const { statement, lease } = await issued(w);
  return w.send('billing_statement.record_documents', statement, { files: filesOf(statement) }, machine, lease);
}

/** Valid requests for the commands of billing statements. */
export const billingExamples = {
  'billing_statement.generate': async (w) => creates('billing_statements', (await begunCampaign(w)).request, operator),
  'billing_statement.record_draft': async (w) => {
    const { lineItem, statement, lease } = await requested(w);
    return on(statement, contentOf(lineItem), machine, lease);
  },
  'billing_statement.fail_draft': async (w) => {
    const { statement, lease } = await requested(w);
    return on(statement, { problem }, machine, lease);
  },
  'billing_statement.discard': async (w) => on(await drafted(w), { cause }, w.actor),
  'billing_statement.issue': async (w) => on(await drafted(w), {}, w.actor),
  'billing_statement.record_documents': async (w) => {
    const { statement, lease } = await issued(w);
    return on(statement, { files: filesOf(statement) }, machine, lease);
  },
  'billing_statement.fail_documents': async (w) => {
    const { statement, lease } = await issued(w);
    return on(statement, { problem }, machine, lease);
  },
  'billing_statement.dispute': async (w) => on((await issued(w)).statement, { cause }, w.actor),
  'billing_statement.uphold': async (w) => {
    const { statement } = await issued(w);
    return on(await w.send('billing_statement.dispute', statement, { cause }), { cause }, w.actor);
  },
  'billing_statement.settle': async (w) => on(await stored(w), { payment_ref: 'SEPA 4711' }, w.actor),
  'billing_statement.void': async (w) => on(await stored(w), { cause }, w.actor),
} satisfies Examples;
