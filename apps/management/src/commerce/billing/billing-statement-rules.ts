import type { ChangesOf, productCatalog } from '@longwave/command-catalog';
import {
  actorId,
  findResource,
  listLinked,
  lockResource,
  type Decision,
  type RuleInput,
  type Rules,
} from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob, stopJobs } from '../../background/job-table.ts';
import { assertFewOpenJobs } from '../../background/open-jobs.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { assertStored, computed, maxDrafts, reversalOf, type BillingStatement } from './billing-statement.ts';
import { takeNumber } from './billing-number-table.ts';
import { countDrafts } from './draft-table.ts';
import { gatherTerms } from './gather-terms.ts';
import { readWatermark, type Ledger } from './read-ledger.ts';
import { findOpen, listStanding, type StandingStatement } from './standing-statement-table.ts';
import { documentsOf } from './statement-documents.ts';

type StatementRules = Pick<
  Rules<typeof productCatalog>,
  Extract<keyof Rules<typeof productCatalog>, `billing_statement.${string}`>
>;
type Input<C> = RuleInput<BillingStatement, C>;

export interface BillingRuleOptions {
  readonly pool: Pool;
  readonly ledger: Ledger;
}

const subjectType = 'billing_statements';

/** What the ledger knew earlier than this is recorded: it reads the same for ever. */
const settlingMs = 2_000;

const queue =
  (kind: 'generate_statement' | 'store_statement', { workspaceId, subjectId, now }: Omit<Input<unknown>, 'tx'>) =>
  (tx: Transaction, { version: subjectVersion }: { readonly version: number }): Promise<void> =>
    insertJob(tx, {
      ...{ kind, workspaceId, subjectType, subjectId, subjectVersion, input: {}, now },
      work: { workClass: 'interactive', expectedMs: 5_000 },
    });

/**
 * Statements of a campaign whose amounts count, in the order of their numbers. No other of the campaign is issued or voided until this
 * transaction ends.
 */
async function lockStanding(
  tx: Transaction,
  workspaceId: string,
  campaignId: string,
): Promise<readonly StandingStatement[]> {
  await lockResource(tx, workspaceId, 'campaigns', campaignId);
  return listStanding(tx, workspaceId, campaignId);
}

/** The draft of a statement. @param watermark until when deliveries are counted */
async function draft(
  input: Input<ChangesOf<'billing_statement.generate'>>,
  watermark: Date | undefined,
): Promise<Decision<BillingStatement>> {
  const { tx, workspaceId, changes, actor, now } = input;
  const { campaign_id: campaignId, corrects, period, tax_note: taxNote, waive_reconciliation: waiver } = changes;
  await assertFewOpenJobs(tx, workspaceId, 'generate_statement', 'statements');
  if ((await countDrafts(tx, campaignId)) >= maxDrafts)
    refuseField(
      '/changes/campaign_id',
      'too_many_drafts',
      `A campaign has at most ${maxDrafts} drafts. Issue one, or discard those that are no longer needed.`,
    );
  const { inputs, period: ofStatement } = await gatherTerms(tx, {
    ...{ workspaceId, campaignId, corrects, period, waiver: waiver?.reason },
    knownAt: new Date(Math.min(watermark?.getTime() ?? Infinity, now.getTime() - settlingMs)),
  });
  return {
    attributes: {
      ...{ campaign_id: campaignId, period: ofStatement, kind: corrects === undefined ? 'invoice' : 'credit_note' },
      ...(corrects !== undefined && { corrects }),
      ...(taxNote !== undefined && { tax_note: taxNote }),
      ...{ requested_by: actorId(actor), inputs },
    },
    also: queue('generate_statement', input),
  };
}

/** Names as they are now. */
async function partiesOf(tx: Transaction, workspaceId: string, { campaign_id, corrects }: BillingStatement) {
  const campaign = (await findResource(tx, workspaceId, 'campaigns', campaign_id))!;
  const advertiser = await findResource(tx, workspaceId, 'advertisers', campaign.attributes.advertiser_id);
  const workspace = await findResource(tx, workspaceId, 'workspaces', workspaceId);
  const corrected = corrects === undefined ? undefined : await findResource(tx, workspaceId, subjectType, corrects);
  const { name: campaignName, io_number: ioNumber } = campaign.attributes;
  return {
    issuer_name: workspace?.attributes.name ?? workspaceId,
    advertiser_name: advertiser!.attributes.legal_name,
    campaign_name: campaignName,
    ...(ioNumber !== undefined && { io_number: ioNumber }),
    ...(corrected?.attributes.number !== undefined && { corrected_number: corrected.attributes.number }),
  };
}

async function issue(input: Input<unknown>): Promise<Decision<BillingStatement>> {
  const { tx, workspaceId, current, subjectId, now } = input;
  computed(current);
  const found = (await lockStanding(tx, workspaceId, current.campaign_id)).map(({ id }) => id);
  const charged = current.inputs.earlier_statement_ids;
  if (current.number !== undefined || found.length !== charged.length || found.some((id) => !charged.includes(id)))
    throw new Problem(
      'state_not_allowed',
      'Another statement of the campaign was issued or voided since this draft was made. Make a new draft.',
    );
  const parties = await partiesOf(tx, workspaceId, current);
  const number = await takeNumber(tx, workspaceId);
  const attributes: BillingStatement = { ...current, number, issued_at: now.toISOString(), parties };
  const documents = documentsOf({ id: subjectId, workspace_id: workspaceId, attributes });
  return { attributes: { ...attributes, documents }, also: queue('store_statement', input) };
}

/** Takes back the newest statement of a campaign. */
async function takeBack({ tx, workspaceId, current, now }: Input<unknown>): Promise<Decision<BillingStatement>> {
  assertStored(current);
  const later = (await lockStanding(tx, workspaceId, current.campaign_id)).find(
    ({ number }) => number > current.number!,
  );
  if (later)
    throw new Problem(
      'state_not_allowed',
      `Statement ${later.number} of the same campaign was issued after this one. Correct it by a credit note: billing_statement.generate with corrects.`,
    );
  return { attributes: { ...current, reversal: reversalOf(current, now) } };
}

/** Rules of billing statements. */
export const billingStatementRules = ({ pool, ledger }: BillingRuleOptions): StatementRules => ({
  'billing_statement.generate': {
    prepare: async ({ workspaceId, changes: { campaign_id: campaignId } }) => {
      const [lineItem] = await listLinked(pool, workspaceId, 'line_items', 'campaign', campaignId);
      const watermark = lineItem && (await readWatermark(ledger, workspaceId, lineItem.id));
      return (input) => draft(input, watermark);
    },
  },

  'billing_statement.record_draft': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'billing_statement.fail_draft': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'billing_statement.discard': ({ current, subjectId }) => ({
    attributes: current,
    also: (tx) => stopJobs(tx, subjectId),
  }),

  'billing_statement.issue': issue,

  'billing_statement.record_documents': ({ current, changes, subjectId, reason }) => {
    const { problem: _solved, ...statement } = current;
    return { attributes: { ...statement, ...changes }, also: (tx) => finishJob(tx, subjectId, reason) };
  },

  'billing_statement.fail_documents': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'billing_statement.settle': ({ current, changes }) => {
    assertStored(current);
    return { attributes: { ...current, ...changes } };
  },

  'billing_statement.void': takeBack,
});

/** Throws `still_in_use` while a statement that charges a line item is neither settled nor voided. */
export async function assertSettled(
  tx: Transaction,
  workspaceId: string,
  lineItem: { readonly id: string; readonly campaignId: string },
): Promise<void> {
  const open = await findOpen(tx, workspaceId, lineItem);
  if (open)
    throw new Problem(
      'still_in_use',
      `Statement ${open.number} (${open.id}) charges this line item and is ${open.state}. Settle or void it first.`,
    );
}
