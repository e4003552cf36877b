import type { productCatalog } from '@longwave/command-catalog';
import {
  actorId,
  findResource,
  listInStates,
  type Actor,
  type Decision,
  type RuleInput,
  type Rules,
} from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob, requireLease, stopJobs } from '../../background/job-table.ts';
import { assertFewOpenJobs } from '../../background/open-jobs.ts';
import { listRoleHolders, personOf } from '../../workspace/people/people-table.ts';
import { peopleWith } from '../../workspace/people/role-holder.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { holdUpload, receivedUpload, type ReceivedUpload } from '../../workspace/uploads/find-upload.ts';
import { readWatermark } from '../billing/read-ledger.ts';
import {
  countUndecided,
  findOtherSource,
  listDeciders,
  lockItem,
  lockReconciliations,
  removeItems,
  saveVerdict,
} from './item-table.ts';
import { maxFileBytes } from './read-counts.ts';
import * as reconciliation from './reconciliation.ts';
import type { Reconciliation, ReconciliationSource, RequestedSource } from './reconciliation.ts';
import { listScoped, maxLineItems } from './scoped-line-items.ts';

type ReconciliationRules = Pick<
  Rules<typeof productCatalog>,
  Extract<keyof Rules<typeof productCatalog>, `reconciliation.${string}`>
>;
type Input = RuleInput<Reconciliation, unknown>;

const underWay = ['open', 'matching', 'review'];
/** Reconciliations of a workspace that are under way at the same time; each compares its scope with all of them. */
const maxUnderWay = 20;
/** Roles that close reconciliations. */
const closers = ['finance', 'owner', 'admin'] as const;

const uploadPath = (index: number) => `/changes/sources/${index}/upload_ref`;

/** The files of sources, by their places among them. Throws `upload_not_received` or `validation_failed`. */
async function findFiles(
  options: { readonly pool: Pool; readonly store: ObjectStore },
  workspaceId: string,
  sources: readonly RequestedSource[],
): Promise<ReadonlyMap<number, ReceivedUpload>> {
  const files = new Map<number, ReceivedUpload>();
  for (const [index, source] of sources.entries()) {
    if (source.kind === 'platform_reported') continue;
    const path = uploadPath(index);
    const file = await receivedUpload(options.pool, options.store, { workspaceId, uploadId: source.upload_ref, path });
    if (file.sizeBytes > maxFileBytes)
      refuseField(
        path,
        'file_too_large',
        `A file has at most ${maxFileBytes / 2 ** 20} MiB. Cut the period or the columns.`,
      );
    if (file.upload.upload_type === 'public')
      refuseField(
        path,
        'public_file',
        'Whoever has its address reads a public file. Upload it as “private” or “temporary”.',
      );
    files.set(index, file);
  }
  return files;
}

/** The sources as they are stored. Holds their files; throws unless their evidence is there and their zones can be counted. */
async function holdSources(
  { tx, workspaceId }: Pick<Input, 'tx' | 'workspaceId'>,
  about: Pick<Reconciliation, 'period'>,
  sources: readonly RequestedSource[],
  files: ReadonlyMap<number, ReceivedUpload>,
): Promise<ReconciliationSource[]> {
  const held: ReconciliationSource[] = [];
  for (const [index, source] of sources.entries()) {
    const { time_zone: timeZone } = source;
    if (timeZone !== undefined)
      reconciliation.assertCountedZone(timeZone, about, `/changes/sources/${index}/time_zone`);
    if (source.kind === 'platform_reported') {
      const path = `/changes/sources/${index}/evidence_id`;
      const unless = ['received', 'failed', 'superseded'];
      await requireResources(tx, { workspaceId, type: 'platform_evidence', ids: [source.evidence_id], path, unless });
      held.push(source);
    } else {
      const file = files.get(index)!;
      await holdUpload(tx, file, uploadPath(index));
      const { upload_ref: id, ...rest } = source;
      held.push({ ...rest, upload_id: id, storage_key: file.upload.storage_key });
    }
  }
  return held;
}

/** Throws `validation_failed` where the workspace has as many reconciliations under way as it may. No other is opened until this transaction ends. */
async function assertFewUnderWay({ tx, workspaceId }: Pick<Input, 'tx' | 'workspaceId'>): Promise<void> {
  await lockReconciliations(tx, workspaceId);
  if ((await listInStates(tx, workspaceId, 'reconciliations', underWay)).length < maxUnderWay) return;
  refuseField(
    '/changes',
    'too_many',
    `A workspace has at most ${maxUnderWay} reconciliations under way. Close or cancel one first.`,
  );
}

/** Throws `validation_failed` unless a scope names line items that were sold, and none that another reconciliation of the period is about. */
async function assertFree(
  { tx, workspaceId, subjectId }: Pick<Input, 'tx' | 'workspaceId' | 'subjectId'>,
  asked: Parameters<typeof reconciliation.overlaps>[0] & Pick<Reconciliation, 'scope'>,
): Promise<void> {
  await lockReconciliations(tx, workspaceId);
  const lineItems = await listScoped(tx, workspaceId, asked.scope);
  if (lineItems.length === 0)
    refuseField(
      '/changes/scope',
      'nothing_sold',
      'None of these line items was booked, so there is nothing to reconcile.',
    );
  if (lineItems.length > maxLineItems)
    refuseField('/changes/scope', 'too_many', `A reconciliation covers at most ${maxLineItems} line items.`);
  const ids = new Set(lineItems.map(({ id }) => id));
  for (const other of await listInStates(tx, workspaceId, 'reconciliations', underWay)) {
    if (other.id === subjectId || !reconciliation.overlaps(asked, other.attributes)) continue;
    const shared = (await listScoped(tx, workspaceId, other.attributes.scope)).find(({ id }) => ids.has(id));
    if (shared)
      refuseField(
        '/changes/scope',
        'under_way',
        `${other.id} reconciles ${shared.id} in this period. Close or cancel it first.`,
      );
  }
}

/** The decision that queues the matching. */
const matching = (attributes: Reconciliation, { workspaceId, subjectId, now }: Input): Decision<Reconciliation> => ({
  attributes,
  also: async (tx, { version }) => {
    // The key lets the upload live until the job has a copy of it.
    const [storageKey] = attributes.sources.flatMap((one) => ('storage_key' in one ? [one.storage_key] : []));
    await insertJob(tx, {
      ...{ kind: 'match_reconciliation', workspaceId, subjectType: 'reconciliations', subjectId, now },
      subjectVersion: version,
      input: storageKey === undefined ? {} : { storage_key: storageKey },
    });
  },
});

/** The person behind a command, also where a review has let it through. */
const senderOf = (actor: Actor): string => (actor.kind === 'service' ? actor.requestedBy : undefined) ?? actorId(actor);

/** Throws `permission_denied` when the person who sends it decided an item, and somebody else could close. */
async function assertOtherDecided({ tx, workspaceId, subjectId, actor, now }: Input): Promise<void> {
  if (actor.kind === 'service' && actor.requestedBy === undefined) return;
  const deciders = await Promise.all((await listDeciders(tx, subjectId)).map((id) => personOf(tx, id)));
  if (!deciders.includes(await personOf(tx, senderOf(actor)))) return;
  const holders = await listRoleHolders(tx, workspaceId, now);
  const others = holders && peopleWith(holders, { roles: closers, podcastId: undefined, except: deciders });
  if (others?.size === 0) return;
  throw new Problem(
    'permission_denied',
    'Whoever decided an item does not close the reconciliation. Ask somebody else.',
  );
}

/** Rules of the commands of reconciliations. */
export const reconciliationRules = (options: {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly ledger: Parameters<typeof readWatermark>[0];
  readonly clock: () => Date;
}): ReconciliationRules => ({
  'reconciliation.open': {
    prepare: async ({ workspaceId, changes: requested }) => {
      const files = await findFiles(options, workspaceId, requested.sources);
      return async (input) => {
        const { tx, changes, actor, now } = input;
        const workspace = await findResource(tx, workspaceId, 'workspaces', workspaceId);
        const { sources, ...settings } = changes;
        const timeZone = changes.time_zone ?? workspace?.attributes.time_zone ?? 'UTC';
        reconciliation.assertPeriod({ ...settings, time_zone: timeZone }, now);
        reconciliation.assertCountedZone(timeZone, settings, '/changes/time_zone');
        const { campaign_ids: campaigns = [], line_item_ids: lineItems = [] } = settings.scope;
        const named = { tx, workspaceId, unless: [] };
        await requireResources(tx, {
          ...named,
          type: 'campaigns',
          ids: campaigns,
          path: '/changes/scope/campaign_ids',
        });
        await requireResources(tx, {
          ...named,
          type: 'line_items',
          ids: lineItems,
          path: '/changes/scope/line_item_ids',
        });
        await assertFewUnderWay(input);
        await assertFree(input, { ...settings, time_zone: timeZone, sources });
        await assertFewOpenJobs(tx, workspaceId, 'match_reconciliation', 'reconciliations');
        const held = await holdSources(input, settings, sources, files);
        return matching({ ...settings, time_zone: timeZone, sources: held, requested_by: senderOf(actor) }, input);
      };
    },
  },

  'reconciliation.match_again': {
    prepare: async ({ workspaceId, changes: requested }) => {
      const files = await findFiles(options, workspaceId, requested.sources ?? []);
      return async (input) => {
        const { tx, current, changes, state } = input;
        reconciliation.assertNotClosing(current);
        if (state === 'open' && current.problem === undefined)
          throw new Problem('state_not_allowed', 'The first matching has not ended yet.');
        await assertFewOpenJobs(tx, workspaceId, 'match_reconciliation', 'reconciliations');
        const sources = changes.sources && (await holdSources(input, current, changes.sources, files));
        // Sources of other zones compare other times.
        if (sources) await assertFree(input, { ...current, sources });
        const provisional = current.provisional && !reconciliation.isSettled(current, input.now);
        return matching({ ...reconciliation.unmatched(current), provisional, ...(sources && { sources }) }, input);
      };
    },
  },

  'reconciliation.begin_match': async ({ tx, current, subjectId, reason }) => {
    await requireLease(tx, subjectId, reason);
    return { attributes: reconciliation.unmatched(current) };
  },

  'reconciliation.record_match': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'reconciliation.fail_match': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'reconciliation.decide_item': async ({ tx: held, subjectId, current, changes, actor, reviewedVersion }) => {
    reconciliation.assertNotClosing(current);
    const { item_id: itemId, verdict, value, note } = changes;
    const item = await lockItem(held, subjectId, itemId);
    if (!item) refuseField('/changes/item_id', 'unknown_item', 'The reconciliation has no such item.');
    reconciliation.assertAsReviewed(item, reviewedVersion);
    const other = verdict === 'ours' ? undefined : await findOtherSource(held, subjectId, item);
    if (other !== undefined)
      refuseField(
        '/changes/verdict',
        'other_source_decided',
        `The number of ${other} counts for the same ads already. Decide that item as ours first.`,
      );
    return {
      attributes: { ...current, totals: reconciliation.afterVerdict(current.totals!, item) },
      also: (tx, { version }) =>
        saveVerdict(tx, subjectId, itemId, { verdict, value, note, decidedBy: senderOf(actor), version }),
    };
  },

  'reconciliation.close': {
    prepare: async ({ workspaceId, current: seen }) => {
      const [lineItem] = seen ? await listScoped(options.pool, workspaceId, seen.scope) : [];
      const now = options.clock();
      const complete = lineItem && (await readWatermark(options.ledger, workspaceId, lineItem.id));
      return async (input) => {
        const { tx, subjectId, current, actor } = input;
        // What failed to close may have posted a part: it closes by the same ledger.
        if (current.problem === undefined) reconciliation.assertNotClosing(current);
        reconciliation.assertFinal(current);
        reconciliation.assertDecided(await countUndecided(tx, subjectId, reconciliation.alwaysDecided));
        await assertOtherDecided(input);
        const { problem: _problem, ...kept } = current;
        const knownAt = current.closing?.known_at ?? (complete ?? now).toISOString();
        return {
          attributes: { ...kept, closing: { known_at: knownAt, requested_by: senderOf(actor) } },
          shown: reconciliation.closingShown(current),
          also: (saved: Transaction, { version }: { readonly version: number }) =>
            insertJob(saved, {
              ...{ kind: 'close_reconciliation', workspaceId, subjectType: 'reconciliations', subjectId },
              ...{ subjectVersion: version, input: {}, now: input.now },
            }),
        };
      };
    },
  },

  'reconciliation.record_close': ({ current, changes, subjectId, reason }) => {
    const { closing, ...kept } = current;
    return {
      attributes: { ...kept, closed: { known_at: closing!.known_at, ...changes } },
      also: (tx) => finishJob(tx, subjectId, reason),
    };
  },

  'reconciliation.fail_close': ({ current, changes, subjectId, reason }) => {
    const { closing: _closing, ...open } = current;
    const isUnposted = changes.problem.code === reconciliation.unpostable;
    return {
      attributes: { ...(isUnposted ? open : current), ...changes },
      also: (tx) => finishJob(tx, subjectId, reason),
    };
  },

  'reconciliation.cancel': ({ current, subjectId }) => {
    reconciliation.assertNotClosing(current);
    const also = async (tx: Transaction) => {
      await stopJobs(tx, subjectId);
      await removeItems(tx, subjectId);
    };
    return { attributes: current, also };
  },
});
