import { setTimeout as pause } from 'node:timers/promises';
import { until } from '@longwave/test-kit';
import { kinds, recoveryMs, seenWithin, type Delivered, type Kind, type Seen } from './_attempts.ts';
import { startLoad } from './_load.ts';
import type { Show } from './_show.ts';
import type { Subject } from './_subject.ts';
import type { Truth } from './_truth.ts';

/** A fault under load, and what the design promises meanwhile. */
export interface FaultCase {
  readonly name: string;
  /** Begins the fault; answers how it is ended, or nothing where it ends by itself. */
  readonly begin: (subject: Subject) => Promise<(() => Promise<void>) | undefined>;
  /** How long it lasts; only of a fault that is ended. */
  readonly lastsMs?: number;
  /** Clients of which not one request may fail, from its beginning on. */
  readonly promises: readonly Kind[];
  /** public-delivery dies: facts of the last moment before it may be lost (docs/services/public-delivery.md). */
  readonly losesLastFacts?: boolean;
}

export interface CaseResult {
  readonly name: string;
  /** From the end of the fault to the first success of each kind; undefined: none. */
  readonly recoveryMs: ReadonlyMap<Kind, number | undefined>;
  /** From the end of the fault until everything that was acknowledged before it has arrived everywhere. */
  readonly caughtUpMs: number | undefined;
  /** What clients saw from the beginning of the fault to the end of the case. */
  readonly seen: ReadonlyMap<Kind, Seen>;
  readonly violations: readonly string[];
}

const limitMs = 120_000;
/** How long the load goes on once everything succeeds again. */
const afterwardsMs = 2_000;
/** Facts of what was sent in so long a time before the end of public-delivery may be lost with it. */
const factMomentMs = 1_200;

const isNever = (error: unknown) => void error;

/** Runs one case: a steady load, the fault, the recovery, and what is stored in the end. */
export async function runCase(
  { subject, show, truth }: { readonly subject: Subject; readonly show: Show; readonly truth: Truth },
  one: FaultCase,
  runId: string,
): Promise<CaseResult> {
  const violations: string[] = [];
  const load = await startLoad(show, runId);
  const { attempts } = load.record;
  const succeeded = (kind: Kind, times: number) =>
    attempts.filter((it) => it.kind === kind && it.failure === undefined).length >= times;
  const unsteady = () =>
    kinds.filter((kind) => !succeeded(kind, 3)).map((kind) => ({ kind, ...seenWithin(attempts, kind, 0, Infinity) }));
  await until('a steady load', unsteady, { holds: (left) => left.length === 0 });
  await until('an encode under way', () => load.record.productions.length > 0);

  const beganMs = performance.now();
  /** What ended around the death of the process that had its facts; clients notice a broken connection at once. */
  const uncertain = ({ endedMs: at }: Delivered) =>
    one.losesLastFacts === true && Math.abs(at - beganMs) < factMomentMs;
  const end = await one.begin(subject);
  if (end) {
    await pause(one.lastsMs ?? 0);
    await end();
  }
  const endedMs = end ? performance.now() : beganMs;
  const recovered = () => kinds.every((kind) => recoveryMs(attempts, kind, endedMs) !== undefined);
  const [caughtUpMs] = await Promise.all([
    until('catching up', async () => (await truth.waitingFor(load.record, endedMs, uncertain)).length === 0, {
      timeoutMs: limitMs,
      despiteErrors: true,
    }).then(() => Math.round(performance.now() - endedMs), isNever),
    until('the recovery', recovered, { timeoutMs: limitMs }).then(() => pause(afterwardsMs), isNever),
  ]);
  const finishedMs = performance.now();
  const inTime = await Promise.race([load.end().then(() => true), pause(limitMs, false, { ref: false })]);
  if (!inTime) violations.push('commands were not acknowledged in the end');
  const waiting = await until(
    'everything to arrive',
    () => truth.waitingFor(load.record, performance.now(), uncertain),
    {
      holds: (names) => names.length === 0,
      timeoutMs: limitMs,
      despiteErrors: true,
    },
  ).then(
    () => [],
    (error: Error) => [error.message],
  );
  violations.push(...waiting, ...(await truth.violations(load.record, uncertain)));
  const seen = new Map(kinds.map((kind) => [kind, seenWithin(attempts, kind, beganMs, finishedMs)]));
  for (const kind of one.promises) {
    const { failed, reasons } = seen.get(kind)!;
    if (failed > 0)
      violations.push(`${kind}: ${failed} requests failed, ${[...reasons].map(([r, n]) => `${n} × ${r}`).join(', ')}`);
  }
  for (const kind of kinds)
    if (recoveryMs(attempts, kind, endedMs) === undefined) violations.push(`${kind}: no success after the fault`);
  const recovery = new Map(kinds.map((kind) => [kind, recoveryMs(attempts, kind, endedMs)]));
  return { name: one.name, recoveryMs: recovery, caughtUpMs: caughtUpMs ?? undefined, seen, violations };
}
