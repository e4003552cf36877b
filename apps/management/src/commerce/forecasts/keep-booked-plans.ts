import { hash } from 'node:crypto';
import { listByIds, listChangedSince, listLinked } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import type { PlanWorkspace } from '../../advertising/serving-plans/compile-plan.ts';
import { contendingStates } from './booked-plan.ts';
import { readBookedParts, type BookedLine, type BookedParts } from './read-booked-plan.ts';

/** A line item of a kept plan. */
interface KeptLine {
  readonly json: string;
  readonly digest: string;
  readonly untilMs: number;
}

/** The plan of everything that is sold in a workspace as of one snapshot, ready to be sent. */
interface BookedPlan {
  /** SHA-256 (hex) of the content: the same whenever and by whichever process it is made. */
  readonly digest: string;
  /** JSON of the plan without its line items. */
  readonly head: string;
  /** By id, in its order. */
  readonly lines: ReadonlyMap<string, KeptLine>;
}

interface KeptPlan extends BookedPlan {
  /** The workspace's newest change when it was read. */
  readonly seq: number;
  readonly timeZone: string;
  readonly size: number;
}

/** Characters of all kept plans; one of 10,000 line items has 13 million. */
const maxKept = 64 * 2 ** 20;
/** Changed resources up to which their line items alone are read again. */
const maxChanged = 100;
/** Every type of resource that a plan is made of. */
const partTypes = [
  'line_items',
  'creative_assignments',
  'creatives',
  'campaigns',
  'advertisers',
  'inventory_units',
] as const;

const keptLine = ({ line, untilMs }: BookedLine): KeptLine => {
  const json = JSON.stringify(line);
  return { json, digest: hash('sha256', json), untilMs };
};

function keptPlan(
  { plan, lines: read }: BookedParts,
  kept: ReadonlyMap<string, KeptLine>,
  at: Pick<KeptPlan, 'seq' | 'timeZone'>,
): KeptPlan {
  // When it was made is no part of it.
  const head = JSON.stringify({ ...plan, effective_from: new Date(0).toISOString() });
  const all = [...kept, ...read.map((one) => [one.line.line_item_id, keptLine(one)] as const)];
  const lines = new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)));
  const digest = hash('sha256', [head, ...[...lines.values()].map((line) => line.digest)].join('\n'));
  const size = [...lines.values()].reduce((sum, { json }) => sum + json.length, head.length);
  return { ...at, head, lines, digest, size };
}

/** The line items that changed resources concern; undefined where too many may be. */
async function concernedBy(
  tx: Transaction,
  workspaceId: string,
  changed: Awaited<ReturnType<typeof listChangedSince>>['changed'],
): Promise<readonly string[] | undefined> {
  const ids = new Set<string>();
  for (const { resource_type: type, resource_id: id } of changed) {
    if (type === 'line_items') ids.add(id);
    else if (type === 'creative_assignments')
      for (const { attributes } of await listByIds(tx, workspaceId, type, [id])) ids.add(attributes.line_item_id);
    else if (type === 'creatives')
      for (const { attributes } of await listLinked(tx, workspaceId, 'creative_assignments', 'creative', id))
        ids.add(attributes.line_item_id);
    else if (type === 'campaigns')
      for (const row of await listLinked(tx, workspaceId, 'line_items', 'campaign', id, contendingStates))
        ids.add(row.id);
    else return undefined;
  }
  return ids.size > maxChanged ? undefined : [...ids];
}

/** Reads the plan of everything that is sold in a workspace. Call it once at a time for a workspace, each with a snapshot of its own. */
export type ReadPlan = (tx: Transaction, workspace: PlanWorkspace, now: Date) => Promise<BookedPlan>;

/**
 * Keeps the plan of each workspace for the next question. A plan is made of the workspace's zone, of the resources of six types, and of the
 * time at which windows end: the zone is compared, changes of resources are asked of the change feed, which each command extends under the
 * lock of the workspace's chain, and each line item knows when it is to be read again. Only the line items that these concern are read.
 */
export function createReadPlan(): ReadPlan {
  const plans = new LRUCache<string, KeptPlan>({ maxSize: maxKept, sizeCalculation: ({ size }) => size });
  return async (tx, workspace, now) => {
    const known = plans.get(workspace.id);
    const { seq, changed } = await listChangedSince(tx, workspace.id, {
      ...{ after: known?.seq ?? Number.MAX_SAFE_INTEGER, types: partTypes, limit: maxChanged + 1 },
    });
    const at = { seq, timeZone: workspace.timeZone };
    const isNear = known?.timeZone === at.timeZone && known.seq <= seq && changed.length <= maxChanged;
    const concerned = isNear ? await concernedBy(tx, workspace.id, changed) : undefined;
    let plan: KeptPlan;
    if (known && concerned) {
      const ended = [...known.lines].flatMap(([id, { untilMs }]) => (untilMs <= now.getTime() ? [id] : []));
      const ids = new Set([...concerned, ...ended]);
      const others = new Map([...known.lines].filter(([id]) => !ids.has(id)));
      plan =
        changed.length + ids.size === 0
          ? { ...known, ...at }
          : keptPlan(await readBookedParts(tx, workspace, now, [...ids]), others, at);
    } else plan = keptPlan(await readBookedParts(tx, workspace, now), new Map(), at);
    plans.set(workspace.id, plan);
    return plan;
  };
}

/** The plan as JSON, in pieces of at most so many bytes. */
export function* piecesOf({ head, lines }: BookedPlan, maxBytes: number): Generator<Buffer> {
  let text = `${head.slice(0, -1)},"line_items":[`;
  let separator = '';
  for (const { json } of lines.values()) {
    text += separator + json;
    separator = ',';
    if (text.length < maxBytes) continue;
    yield* parted(text, maxBytes);
    text = '';
  }
  yield* parted(`${text}]}`, maxBytes);
}

function* parted(text: string, maxBytes: number): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += maxBytes) yield bytes.subarray(at, at + maxBytes);
}
