import { hash } from 'node:crypto';
import type { BookedLine, BookedParts } from './read-booked-plan.ts';

/** A line item of a kept plan. */
interface KeptLine {
  readonly json: string;
  readonly digest: string;
  readonly untilMs: number;
}

/** The plan of everything that is sold in a workspace as of one snapshot, ready to be sent. */
export interface BookedPlan {
  /** SHA-256 (hex) of the content: the same whenever and by whichever process it is made. */
  readonly digest: string;
  /** JSON of the plan without its line items. */
  readonly head: string;
  /** By id, in its order. */
  readonly lines: ReadonlyMap<string, KeptLine>;
  /** The plans that it was before, the last change first. */
  readonly past: readonly Step[];
}

/** A plan that was another one before. */
interface Step {
  /** Of the plan before. */
  readonly digest: string;
  /** Line items that it had otherwise, or not, or that it alone had. */
  readonly ids: readonly string[];
}

/** Plans of the past that are remembered. */
const maxSteps = 100;
/** Changed line items up to which they are sent in place of the plan, and remembered. */
const maxChanges = 2_000;

const keptLine = ({ line, untilMs }: BookedLine): KeptLine => {
  const json = JSON.stringify(line);
  return { json, digest: hash('sha256', json), untilMs };
};

function differingIds(before: BookedPlan['lines'], after: BookedPlan['lines']): string[] {
  const gone = [...before.keys()].filter((id) => !after.has(id));
  const other = [...after].filter(([id, { digest }]) => before.get(id)?.digest !== digest);
  return [...gone, ...other.map(([id]) => id)];
}

/** The past of a plan, as far back as it is worth while to send what has changed since. */
function pastOf(before: BookedPlan, lines: BookedPlan['lines']): readonly Step[] {
  const steps = [{ digest: before.digest, ids: differingIds(before.lines, lines) }, ...before.past].slice(0, maxSteps);
  let ids = 0;
  const tooFar = steps.findIndex((step) => (ids += step.ids.length) > maxChanges);
  return tooFar < 0 ? steps : steps.slice(0, tooFar);
}

/**
 * A plan that is ready to be sent.
 * @param read line items that are new, or are not as they were
 * @param others those that are as they were
 * @param before the plan that it was before
 */
export function keepPlan(
  { plan, lines: read }: BookedParts,
  others: BookedPlan['lines'],
  before: BookedPlan | undefined,
): BookedPlan {
  // When it was made is no part of it.
  const head = JSON.stringify({ ...plan, effective_from: new Date(0).toISOString() });
  const all = [...others, ...read.map((one) => [one.line.line_item_id, keptLine(one)] as const)];
  const lines = new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)));
  const digest = hash('sha256', [head, ...[...lines.values()].map((line) => line.digest)].join('\n'));
  const isSame = before?.digest === digest;
  return { head, lines, digest, past: !before ? [] : isSame ? before.past : pastOf(before, lines) };
}

/** The plan as JSON, in pieces of at most so many bytes. */
export function* piecesOf({ head, lines }: BookedPlan, maxBytes: number): Generator<Buffer> {
  yield* inPieces(head, lines.values(), '', maxBytes);
}

/**
 * The changes since a plan, as JSON in pieces of at most so many bytes.
 * @param since its digest
 * @returns undefined where it is not known, or too much has changed
 */
export function changesOf(
  { head, lines, past }: BookedPlan,
  since: string,
  maxBytes: number,
): Generator<Buffer> | undefined {
  const first = past.findIndex(({ digest }) => digest === since);
  if (first < 0) return undefined;
  const ids = [...new Set(past.slice(0, first + 1).flatMap((step) => step.ids))];
  const changed = ids.flatMap((id) => lines.get(id) ?? []);
  const removed = ids.filter((id) => !lines.has(id));
  return inPieces(`{"plan":${head}}`, changed, `,"removed":${JSON.stringify(removed)}`, maxBytes);
}

/** A JSON object with the list of line items after its other members, and further members after that. */
function* inPieces(object: string, lines: Iterable<KeptLine>, after: string, maxBytes: number): Generator<Buffer> {
  let text = `${object.slice(0, -1)},"line_items":[`;
  let separator = '';
  for (const { json } of lines) {
    text += separator + json;
    separator = ',';
    if (text.length < maxBytes) continue;
    yield* parted(text, maxBytes);
    text = '';
  }
  yield* parted(`${text}]${after}}`, maxBytes);
}

function* parted(text: string, maxBytes: number): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += maxBytes) yield bytes.subarray(at, at + maxBytes);
}
