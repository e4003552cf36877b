import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { createGenerateStatementHandler } from '../src/commerce/billing/generate-statement.ts';
import { createStoreStatementHandler } from '../src/commerce/billing/statement-documents.ts';
import type { JobHandler } from '../src/background/job-runner.ts';
import { claimJob } from '../src/background/job-table.ts';
import type { TestManagement } from './_management.ts';
import { service } from './_values.ts';
import type { World } from './_world.ts';

const dayMs = 86_400_000;
const operator = service('operator');
const running = new AbortController().signal;

type Period = { readonly start: string; readonly end: string };
type StatementRow = ResourceRow<'billing_statements'>;

/** Why no reconciliation is needed. */
export const waiver = { reason: 'The advertiser sends no numbers of its own.' };

/** The first instant of the day of UTC in which a time lies, so many days later. */
export const dayFrom = (at: Date, days: number): string =>
  new Date(Math.floor(at.getTime() / dayMs) * dayMs + days * dayMs).toISOString();

/** A line item sold by a thousand ads. */
export const cpm = (micros: string, currency = 'EUR') => ({
  rate: { model: 'cpm', price: { amount_micros: micros, currency } },
  goal: { unit: 'impressions', quantity: 1_000_000 },
});

/** Moves the clock to a minute after the beginning of a day, counted from that of a time. */
export const passTo = (w: World, from: Date, days: number) =>
  w.ahead(Date.parse(dayFrom(from, days)) + 60_000 - w.now().getTime());

/** A time, in days from the beginning of the day of another. */
export const at = (from: Date, days: number) => new Date(Date.parse(dayFrom(from, 0)) + days * dayMs);

/** Makes and issues statements of a management by commands and jobs. */
export function createBilling(management: TestManagement) {
  const find = async (w: World, id: string): Promise<StatementRow> =>
    (await findResource(management.pool, w.workspaceId, 'billing_statements', id))!;

  async function work(handler: JobHandler, kind: 'generate_statement' | 'store_statement', id: string): Promise<void> {
    for (;;) {
      const job = await claimJob(management.pool, [kind], 'test', 600_000);
      if (!job) throw new Error(`no job of ${id}`);
      // The others were left by earlier tests.
      if (job.subject_id === id) return handler.run(job, running);
    }
  }

  const billing = {
    find,
    /** A flight in an active campaign whose window begins today and lasts so many days; both are sold as the changes say. */
    async flight(w: World, days: number, changes: Record<string, unknown>, campaign?: ResourceView) {
      const window = { start: dayFrom(w.now(), 0), end: dayFrom(w.now(), days) };
      const within = campaign ?? (await billing.campaign(w, days));
      const { lineItem } = await w.booked({ window, ...changes }, within);
      return { campaign: within, lineItem: await billing.began(w, lineItem) };
    },
    /** A booked line item in a plan; its flight has begun. */
    async began(w: World, lineItem: ResourceView): Promise<ResourceView> {
      await w.planned(lineItem.id);
      return w.send('line_item.start_flight', lineItem, {}, service('management'));
    },
    async campaign(w: World, days: number): Promise<ResourceView> {
      const window = { start: dayFrom(w.now(), 0), end: dayFrom(w.now(), days) };
      const draft = await w.send('campaign.create', null, {
        ...{ advertiser_id: (await w.advertiser()).id, name: 'Autumn', io_number: 'IO-7', window },
      });
      return w.send('campaign.activate', await w.send('campaign.submit', draft, {}), {});
    },
    /** Asks for a statement as the operator, whose commands need no review. */
    ask: (w: World, campaign: { readonly id: string }, period: Period, more: Record<string, unknown> = {}) =>
      w.send(
        'billing_statement.generate',
        null,
        { campaign_id: campaign.id, period, waive_reconciliation: waiver, ...more },
        operator,
      ),
    /** Computes a statement that was asked for. */
    async compute(w: World, { id }: { readonly id: string }): Promise<StatementRow> {
      await work(createGenerateStatementHandler(management), 'generate_statement', id);
      return find(w, id);
    },
    async draft(w: World, campaign: { readonly id: string }, period: Period, more?: Record<string, unknown>) {
      return billing.compute(w, await billing.ask(w, campaign, period, more));
    },
    /** Issues a draft; its documents are stored. */
    async issue(w: World, draft: Pick<StatementRow, 'id' | 'resource_type' | 'version'>): Promise<StatementRow> {
      await w.send('billing_statement.issue', draft, {}, operator);
      await work(createStoreStatementHandler(management), 'store_statement', draft.id);
      return find(w, draft.id);
    },
    async issued(w: World, campaign: { readonly id: string }, period: Period, more?: Record<string, unknown>) {
      return billing.issue(w, await billing.draft(w, campaign, period, more));
    },
  };
  return billing;
}
