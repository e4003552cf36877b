import type { AudienceLists } from '@longwave/audience';
import type { DeliveryFact } from '@longwave/events';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { recordFacts, type CountingMemory } from '../counting/record-facts.ts';
import {
  addToStatus,
  insertWaitingRows,
  postponeBatch,
  takeBatch,
  takeReadyRows,
  type TakenBatch,
  type WaitingRow,
} from './batch-table.ts';
import type { Rejection } from './batch-status.ts';
import type { BatchRow } from './batch.ts';
import { findKnownLayouts, wakeWaitingRows } from './known-layout-table.ts';
import { keepClaims, type Claim } from './platform-reported-table.ts';
import { lockLinks } from './listener-links.ts';
import {
  awaitedName,
  byteRangeFact,
  declaredUserAgentsSeen,
  deliveryEventFact,
  mediaRangeFact,
  playedServing,
  type KnownLayout,
  type RejectionCode,
} from './row-facts.ts';

export interface AggregationDeps {
  readonly pool: Pool;
  readonly lists: AudienceLists;
  readonly memory: CountingMemory;
  readonly clock: () => Date;
}

interface IndexedRow {
  readonly index: number;
  readonly row: BatchRow;
}

const isClaim = (one: IndexedRow): one is { readonly index: number; readonly row: Claim } =>
  one.row.kind === 'download_qualified' || one.row.kind === 'ad_delivered';

function factOf(producer: string, row: BatchRow, layout: KnownLayout): DeliveryFact | RejectionCode | undefined {
  if (row.kind === 'byte_range_served') return byteRangeFact(producer, row, layout);
  if (row.kind === 'media_range_served') return mediaRangeFact(producer, row, layout);
  return row.kind === 'delivery_event' ? deliveryEventFact(producer, row, layout) : undefined;
}

/** Rows of one producer, sorted: facts, rejected rows and waiting rows. */
interface SortedRows {
  readonly facts: readonly DeliveryFact[];
  readonly rejections: readonly Rejection[];
  readonly waiting: readonly (IndexedRow & { readonly awaits: string })[];
}

/** The names of layouts that may tell what a row needs, the better one first. */
const namesFor = ({ row, awaits }: { readonly row: BatchRow; readonly awaits: string }): string[] =>
  row.kind === 'delivery_event' ? [awaits, playedServing(awaits)] : [awaits];

/** Turns rows into facts when their workspace knows the arrangement, track or serving that they name. */
async function sortRows(tx: Transaction, producer: string, rows: readonly IndexedRow[]): Promise<SortedRows> {
  const named = rows.flatMap((one) => {
    const awaits = awaitedName(one.row);
    return awaits === undefined ? [] : [{ ...one, awaits }];
  });
  const layouts = await findKnownLayouts(
    tx,
    [...new Set(named.flatMap(namesFor))],
    [...new Set(named.map((one) => one.row.workspace))],
  );
  const outcomes = named.map((one) => {
    const layout = namesFor(one)
      .map((name) => layouts.get(name))
      .find((it) => it?.workspaceId === one.row.workspace);
    return { one, outcome: layout && factOf(producer, one.row, layout) };
  });
  const mayLink = await lockLinks(
    tx,
    producer,
    outcomes.flatMap(({ outcome }) => (typeof outcome === 'object' ? outcome : [])),
  );
  const facts: DeliveryFact[] = [];
  const rejections: Rejection[] = [];
  const waiting: SortedRows['waiting'][number][] = [];
  for (const { one, outcome } of outcomes) {
    if (outcome === undefined) waiting.push(one);
    else if (typeof outcome === 'string') rejections.push({ row: one.index, code: outcome });
    else if (mayLink(outcome)) facts.push(outcome);
    else rejections.push({ row: one.index, code: 'other_listener' });
  }
  return { facts, rejections, waiting };
}

/** Counts the facts of a producer in the same way as our own, with the user agents that stand for the producer's verdicts. */
async function countRows(
  { pool, lists, memory }: AggregationDeps,
  facts: readonly DeliveryFact[],
  rows: readonly BatchRow[],
): Promise<void> {
  if (facts.length > 0) await recordFacts(pool, [...declaredUserAgentsSeen(rows), ...facts], lists, memory);
}

/**
 * Aggregates the batch that is due longest. Its row is locked until its facts and claims are stored: when a process dies, the next one
 * takes the batch at once, and stores nothing twice, because facts and claims have ids. A batch that fails is put off.
 * @returns false when no batch is due
 */
export async function aggregateNextBatch(deps: AggregationDeps): Promise<boolean> {
  let taken: TakenBatch | undefined;
  try {
    const awaited = await transaction(deps.pool, async (tx) => {
      taken = await takeBatch(tx, deps.clock());
      if (!taken) return [];
      const { producer } = taken;
      const rows = taken.rows.map((row, index) => ({ index, row }));
      const { facts, rejections, waiting } = await sortRows(tx, producer, rows);
      await countRows(deps, facts, taken.rows);
      const claims = rows.filter(isClaim);
      const isKept = await keepClaims(
        tx,
        producer,
        claims.map((one) => one.row),
      );
      const changed = claims.flatMap(({ index }, position) =>
        isKept[position] ? [] : [{ row: index, code: 'claim_changed' as const }],
      );
      await insertWaitingRows(tx, taken, waiting);
      const aggregated = facts.length + claims.length - changed.length;
      const settled = aggregated + rejections.length + changed.length + waiting.length;
      await addToStatus(tx, taken, {
        stored: -settled,
        aggregated,
        waiting: waiting.length,
        rejections: [...rejections, ...changed],
      });
      return [...new Set(waiting.map((one) => one.awaits))];
    });
    if (awaited.length > 0) await wakeWaitingRows(deps.pool, { names: awaited });
    return taken !== undefined;
  } catch (error) {
    if (taken) await postponeBatch(deps.pool, taken, deps.clock());
    throw error;
  }
}

const maxRows = 500;

const batchKey = (one: WaitingRow) => JSON.stringify([one.producer, one.batchId]);

/**
 * Aggregates rows whose arrangement or serving has become known.
 * @returns false when there are no such rows
 */
export function settleReadyRows(deps: AggregationDeps): Promise<boolean> {
  return transaction(deps.pool, async (tx) => {
    const rows = await takeReadyRows(tx, maxRows);
    const batches = [...Map.groupBy(rows, batchKey)].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [, own] of batches) {
      const { producer, batchId } = own[0]!;
      const { facts, rejections } = await sortRows(tx, producer, own);
      await countRows(
        deps,
        facts,
        own.map((one) => one.row),
      );
      await addToStatus(
        tx,
        { producer, batchId },
        { stored: 0, aggregated: facts.length, waiting: -own.length, rejections },
      );
    }
    return rows.length > 0;
  });
}
