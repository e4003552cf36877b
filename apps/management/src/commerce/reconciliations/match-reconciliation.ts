import { buffer } from 'node:stream/consumers';
import type { ChangesInput } from '@longwave/command-catalog';
import { findResource, type ExecuteCommand, type ResourceRow } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { transaction, type Pool } from '@longwave/postgres';
import { isProblem } from '@longwave/problems';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { RetryLater, type JobHandler } from '../../background/job-runner.ts';
import { leaseOf, requireLease, type ClaimedJob } from '../../background/job-table.ts';
import { readWatermark } from '../billing/read-ledger.ts';
import { listChargedBases } from './charged-bases.ts';
import type { CountedRow, Finding, SourceRows } from './counted-row.ts';
import { listPosted, replaceItems, type NewItem } from './item-table.ts';
import { mapIds } from './map-ids.ts';
import { inOrder, matchSource, totalsOf } from './match-items.ts';
import { readCounts } from './read-counts.ts';
import { readEvidence, type ListEvidenceRows } from './read-evidence.ts';
import { readHours, TooManyHours, type Ledger, type LedgerClient } from './read-ledger.ts';
import { readServings } from './read-servings.ts';
import {
  comparedRange,
  dateOf,
  daysOfPeriod,
  instantsOf,
  maxUnits,
  toleranceOf,
  type Reconciliation,
  type ReconciliationSource,
} from './reconciliation.ts';
import { listCampaigns, listScoped, listServedCreatives } from './scoped-line-items.ts';

export interface ReconciliationOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly ledger: Pick<LedgerClient, 'readUnits' | 'readHours' | 'readServings' | 'postAdjustments'>;
  readonly listEvidenceRows: ListEvidenceRows;
  readonly clock: () => Date;
}

type Failure = ChangesInput<'reconciliation.fail_match'>;
type Matched = ChangesInput<'reconciliation.record_match'>;

/** The most items of one reconciliation. */
const maxItems = 500_000;
const tooManyItems = {
  code: 'too_many_items',
  detail: `A reconciliation has at most ${maxItems.toLocaleString('en')} items. Cut the period or the scope.`,
};
const maxFindings = 100;

/** The objects that keep the files of a reconciliation for its life; the uploads may expire. */
const keptPrefixOf = (reconciliationId: string) => `reconciliations/${reconciliationId}/`;
const keptKeyOf = (reconciliationId: string, uploadId: string) => `${keptPrefixOf(reconciliationId)}${uploadId}.csv`;

/** Removes the files of a reconciliation that was cancelled. */
export async function removeKeptFiles(store: ObjectStore, reconciliationId: string): Promise<void> {
  for await (const { key } of store.list(keptPrefixOf(reconciliationId))) await store.remove(key);
}

/** The bytes of a source's file, which are copied at the first reading. */
async function readFile(
  store: ObjectStore,
  reconciliationId: string,
  source: Extract<ReconciliationSource, { readonly storage_key: string }>,
): Promise<Buffer> {
  const key = keptKeyOf(reconciliationId, source.upload_id);
  if (!(await store.find(key))) {
    const sent = await store.find(source.storage_key);
    if (sent) await store.copy(source.storage_key, key, { etag: sent.etag });
  }
  return buffer(await store.get(key));
}

async function readSource(
  { pool, store, listEvidenceRows }: ReconciliationOptions,
  job: ClaimedJob,
  { period, time_zone: timeZone }: Reconciliation,
  source: ReconciliationSource,
  signal: AbortSignal,
): Promise<SourceRows> {
  const { workspace_id: workspaceId, subject_id: id } = job;
  if (source.kind !== 'platform_reported') return readCounts(await readFile(store, id, source), source.columns);
  const report = await findResource(pool, workspaceId, 'platform_evidence', source.evidence_id);
  const { granularity } = report!.attributes.evidence;
  const instants = instantsOf(daysOfPeriod(period, timeZone), source.time_zone ?? timeZone);
  return readEvidence(listEvidenceRows, workspaceId, source, { granularity, ...instants, signal });
}

/** A worker asks again so long after the sink was asked for something that was being recorded. */
const askAgainMs = 1_500;

/** Throws `RetryLater` where the sink does not answer for a time yet. */
const orLater = (error: unknown): never => {
  if (isProblem(error, 'temporarily_unavailable')) throw new RetryLater('the ledger does not answer yet', askAgainMs);
  throw error;
};

/**
 * Our side of a reconciliation. Adjustments are those that closed reconciliations of the same time have posted, whatever clock recorded them: no
 * other one of its line items and days is under way, so they stay the same until it closes.
 * @param bases what each line item is counted by; adjustments of other units are left out
 * @param at.knownAt hours of the ledger as they were known then
 */
export async function readOurs(
  { pool, ledger }: Pick<ReconciliationOptions, 'pool' | 'ledger'>,
  { id, workspace_id: workspaceId, attributes }: ResourceRow<'reconciliations'>,
  bases: ReadonlyMap<string, string>,
  at: { readonly knownAt: Date; readonly signal: AbortSignal },
): Promise<Ledger> {
  const range = { ...comparedRange(attributes), knownAtMs: at.knownAt.getTime() };
  const hours = await readHours(ledger, workspaceId, bases, range, at.signal).catch(orLater);
  const posted = await listPosted(pool, {
    workspaceId,
    period: attributes.period,
    lineItemIds: [...bases.keys()],
    but: id,
  });
  const adjustments = posted
    .filter(({ lineItemId, basis }) => bases.get(lineItemId) === basis)
    .map(({ lineItemId, day, quantity, period, timeZone, sourceZone }) =>
      day === null
        ? { lineItemId, quantity, timeZone, day: dateOf(daysOfPeriod(period, timeZone).end - 1) }
        : { lineItemId, quantity, timeZone: sourceZone ?? timeZone, day },
    );
  return { hours, adjustments };
}

/** What is wrong with the sum of a source; no adjustment could say a difference to it. */
function findExcess(rows: readonly CountedRow[]): readonly Finding[] {
  if (rows.reduce((sum, { units }) => sum + units, 0) <= maxUnits) return [];
  return [{ code: 'too_many_units', detail: `A source has at most ${maxUnits.toLocaleString('en')} units in all.` }];
}

/** What was charged by several units in a period has no number that one item could say. */
class SeveralBases extends Error {
  readonly problem: Failure['problem'];
  constructor(changed: readonly { readonly id: string; readonly at: string }[]) {
    super('a line item has several counting bases');
    const named = changed.slice(0, 10).map(({ id, at }) => `${id} at ${at}`);
    const detail = `The units that line items are charged for have changed in this period: ${named.join(', ')}. Cancel this reconciliation, and open one up to that day and one from that day on.`;
    this.problem = { code: 'several_bases', detail };
  }
}

/** Our side, and what ids of sources may lead to. */
async function readKnown(
  options: ReconciliationOptions,
  reconciliation: ResourceRow<'reconciliations'>,
  signal: AbortSignal,
) {
  const { pool } = options;
  const { workspace_id: workspaceId } = reconciliation;
  const lineItems = await listScoped(pool, workspaceId, reconciliation.attributes.scope);
  const charged = { ...reconciliation.attributes, now: options.clock() };
  const { bases, changed } = await listChargedBases(pool, lineItems, charged);
  if (changed.length > 0) throw new SeveralBases(changed);
  const anyLineItem = lineItems[0]?.id ?? reconciliation.id;
  const knownAt = await readWatermark(options.ledger, workspaceId, anyLineItem).catch(orLater);
  const ledger = await readOurs(options, reconciliation, bases, { knownAt, signal });
  const known = {
    lineItems,
    campaigns: await listCampaigns(pool, workspaceId, lineItems),
    creatives: await listServedCreatives(pool, workspaceId, lineItems),
  };
  return { lineItems, bases, knownAt, ledger, known };
}

/** Matches every source; a source that cannot be read ends it with what is wrong. */
async function match(
  options: ReconciliationOptions,
  job: ClaimedJob,
  reconciliation: ResourceRow<'reconciliations'>,
  signal: AbortSignal,
): Promise<{ readonly items: readonly NewItem[]; readonly changes: Matched } | { readonly failure: Failure }> {
  const { attributes } = reconciliation;
  const findings: Failure['findings'] = [];
  const items: NewItem[] = [];
  const found: Matched['found'] = [];
  let ours: Awaited<ReturnType<typeof readKnown>> | undefined;
  // The rows of one source are in memory at a time, and no items beyond the bound.
  for (const source of attributes.sources) {
    const read = await readSource(options, job, attributes, source, signal);
    const wrong = 'findings' in read ? read.findings : findExcess(read.rows);
    findings.push(...wrong.map((finding) => ({ source: source.name, ...finding })));
    if (findings.length > 0 || !('rows' in read)) continue;
    ours ??= await readKnown(options, reconciliation, signal);
    const { lineItems, bases, knownAt, ledger, known } = ours;
    const { workspace_id: workspaceId } = reconciliation;
    const about = { workspaceId, bases, knownAt, signal };
    const servings = await readServings(options.ledger, read.rows, about).catch(orLater);
    const matched = await matchSource(source, read.rows, {
      lineItems: lineItems.map(({ id, attributes: { campaign_id: campaignId } }) => ({
        ...{ id, campaignId, basis: bases.get(id)! },
      })),
      ids: mapIds(source.name, known),
      servings,
      ...{ ledger, days: daysOfPeriod(attributes.period, attributes.time_zone), timeZone: attributes.time_zone },
      tolerancePct: toleranceOf(attributes, source),
      smallest: attributes.smallest_difference,
      provisional: attributes.provisional,
      maxItems: maxItems - items.length,
    });
    if (!matched) return { failure: { problem: tooManyItems, findings: [] } };
    for (const item of matched.items) items.push(item);
    found.push(matched.found);
  }
  if (findings.length > 0) {
    const detail = 'A source has lines that cannot be read. Correct them, upload the file again and match again.';
    return { failure: { problem: { code: 'source_unreadable', detail }, findings: findings.slice(0, maxFindings) } };
  }
  const changes = { known_at: ours!.knownAt.toISOString(), totals: totalsOf(items), found };
  return { items: inOrder(items), changes };
}

/**
 * Matches the sources of a reconciliation with our ledger and stores the items. An attempt whose lease is over stores none, because another
 * one may have recorded its own.
 */
export const createMatchHandler = (options: ReconciliationOptions): JobHandler => ({
  maxAttempts: 20,
  concurrency: 2,
  fail: {
    commandType: 'reconciliation.fail_match',
    problem: { code: 'matching_gave_up', detail: 'The sources could not be matched. Match again.' },
  },
  run: async (job, signal) => {
    const { pool, execute } = options;
    const { workspace_id: workspaceId, subject_id: id } = job;
    const envelope = (step: string) => ({
      ...{ workspaceId, idempotencyKey: `${job.lease_id}:${step}`, reason: leaseOf(job) },
    });
    const found = await findResource(pool, workspaceId, 'reconciliations', id);
    // An attempt that crashed has begun it already.
    if (found?.lifecycle_state === 'open')
      await executeAsManagement(execute, envelope('begin'), { type: 'reconciliation.begin_match', id, changes: {} });
    const outcome = await match(options, job, found!, signal).catch((error: unknown) => {
      if (error instanceof SeveralBases) return { failure: { problem: error.problem, findings: [] } };
      if (error instanceof TooManyHours) return { failure: { problem: tooManyItems, findings: [] } };
      throw error;
    });
    if ('failure' in outcome) {
      const command = { type: 'reconciliation.fail_match', id, changes: outcome.failure } as const;
      await executeAsManagement(execute, envelope('fail'), command);
      return;
    }
    await transaction(pool, async (tx) => {
      await requireLease(tx, id, leaseOf(job));
      await replaceItems(tx, { workspaceId, reconciliationId: id, version: found!.version }, outcome.items);
    });
    const command = { type: 'reconciliation.record_match', id, changes: outcome.changes } as const;
    await executeAsManagement(execute, envelope('record'), command);
  },
});
