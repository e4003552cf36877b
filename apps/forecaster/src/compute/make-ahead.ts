import type { TimeRange } from '@longwave/forecasting';
import { pollLoop } from '@longwave/worker-kit';
import { LRUCache } from 'lru-cache';
import { readMs, type Check } from './ask-in-time.ts';
import { askedLatelyMs } from './keep-baselines.ts';
import { TookTooLong, type ComputeThread } from './thread.ts';

/** Workspaces for which baselines are made ahead, those that asked last. */
const maxWorkspaces = 10;
/** From a question to the first look at its workspace, and from each look to the next: a sale follows its question at once. */
const pausesMs = [1_000, 4_000, 15_000, 60_000] as const;
/** Parts that are made at one look: a baseline is made anew when something is sold meanwhile. */
const maxParts = 10;
const everyMs = 500;
/** Of the processor: a part that takes longer is too long for others, who wait for it. */
const longPartMs = 5_000;
/** So long such a workspace is left to its questions. */
const leftMs = 3_600_000;
/** From one look at a workspace that may ask to the next, and from one list of them to the next. */
const expectedEveryMs = 60_000;
/** After a failure nobody looks at it for so long. */
const failedMs = 600_000;

/** A workspace that sells, and the flights about which it may ask next. */
export interface Seller {
  readonly workspaceId: string;
  readonly flights: readonly TimeRange[];
}

interface Expected {
  readonly flights: readonly TimeRange[];
  readonly nextAtMs: number;
}

interface Asked {
  readonly askedAtMs: number;
  readonly looks: number;
  readonly nextAtMs: number;
}

/** Says when the workspaces that asked lately are looked at. */
function createLooks() {
  /** The workspaces in the order of their last question, the newest last. */
  const asked = new Map<string, Asked>();
  /** Those that may ask, the likeliest first. */
  const expected = new Map<string, Expected>();
  return {
    noteQuestion: (workspaceId: string, nowMs: number): void => {
      asked.delete(workspaceId);
      asked.set(workspaceId, { askedAtMs: nowMs, looks: 0, nextAtMs: nowMs + pausesMs[0] });
      if (asked.size > maxWorkspaces) asked.delete(asked.keys().next().value!);
    },
    /** Says who may ask: those that are told first are looked at first. */
    expect: (sellers: readonly Seller[], nowMs: number): void => {
      const before = new Map(expected);
      expected.clear();
      for (const { workspaceId, flights } of sellers.slice(0, maxWorkspaces))
        expected.set(workspaceId, { flights, nextAtMs: before.get(workspaceId)?.nextAtMs ?? nowMs });
    },
    /** The workspace that has waited longest for its look, those that asked before those that may ask. */
    takeDue: (nowMs: number): Look | undefined => {
      for (const [id, { askedAtMs }] of [...asked]) if (nowMs - askedAtMs >= askedLatelyMs) asked.delete(id);
      const due = [...asked].filter(([, { nextAtMs }]) => nextAtMs <= nowMs);
      const [first] = due.sort(([, a], [, b]) => a.nextAtMs - b.nextAtMs);
      if (first) {
        const [id, one] = first;
        const looks = one.looks + 1;
        asked.set(id, { ...one, looks, nextAtMs: nowMs + (pausesMs[looks] ?? pausesMs.at(-1)!) });
        return { workspaceId: id, hasAsked: true, flights: expected.get(id)?.flights };
      }
      for (const [id, { flights, nextAtMs }] of expected) {
        if (nextAtMs > nowMs || asked.has(id)) continue;
        expected.set(id, { flights, nextAtMs: nowMs + expectedEveryMs });
        return { workspaceId: id, hasAsked: false, flights };
      }
      return undefined;
    },
    forget: (workspaceId: string, nowMs: number): void => {
      asked.delete(workspaceId);
      const one = expected.get(workspaceId);
      if (one) expected.set(workspaceId, { ...one, nextAtMs: nowMs + failedMs });
    },
  };
}

/** A look at a workspace: what may be made for it. */
interface Look {
  readonly workspaceId: string;
  /** Whether somebody asked lately; else they may. */
  readonly hasAsked: boolean;
  readonly flights: readonly TimeRange[] | undefined;
}

interface AheadOptions {
  readonly onError: (error: unknown) => void;
  /** Finds who sells, the likeliest to ask first. Absent: nothing is made for those that have not asked. */
  readonly listSellers?: () => Promise<readonly Seller[]>;
  readonly nowMs?: () => number;
}

/** Makes baselines before somebody asks. */
interface Ahead {
  /** Gives the same answers, and notes which workspaces ask whether a line item can be had. */
  readonly noting: (check: Check) => Check;
  /** Makes what the workspace that is due would make first. Answers false where none is due, or somebody waits for an answer. */
  readonly look: (signal: AbortSignal) => Promise<boolean>;
}

/**
 * Makes what the next question of a workspace would make first, on the thread that answers: for those that sell before their first question,
 * after something was sold or changed, after an hour has ended, and before a baseline is too old. It makes a part at a time, and none while
 * somebody waits; who asks meanwhile waits for one part at most. A workspace of which a part takes more than five seconds of the processor is
 * left to its questions.
 */
export function createAhead(
  thread: Pick<ComputeThread, 'ask'>,
  { onError, listSellers, nowMs = Date.now }: AheadOptions,
): Ahead {
  const looks = createLooks();
  const tooSlow = new LRUCache<string, number>({ max: 100 });
  const isTooSlow = (workspaceId: string) => nowMs() - (tooSlow.get(workspaceId) ?? -Infinity) < leftMs;
  let waiting = 0;
  let listedAtMs = -Infinity;
  // Nobody leaves, and nobody has the thread compute for longer than a minute.
  const left = new AbortController().signal;
  const makePart = async ({ workspaceId, flights }: Look, ended: AbortSignal) => {
    const question = { type: 'ahead', workspaceId, ...(flights && { flights }), deadlineMs: readMs } as const;
    const { isMade, processorMs } = await thread.ask(question, { left, ended });
    if (processorMs > longPartMs) throw new TookTooLong('what is made ahead takes too long for whoever waits');
    return isMade;
  };
  const read = ({ workspaceId }: Look, ended: AbortSignal) =>
    thread.ask({ type: 'read', workspaceId, deadlineMs: readMs }, { left, ended });
  const list = async (ask: () => Promise<readonly Seller[]>) => {
    listedAtMs = nowMs();
    const sellers = await ask().catch((error: unknown) => (onError(error), undefined));
    if (sellers)
      looks.expect(
        sellers.filter(({ workspaceId }) => !isTooSlow(workspaceId)),
        nowMs(),
      );
  };
  return {
    noting: (check) => async (question, signal) => {
      waiting++;
      try {
        return await check(question, signal);
      } finally {
        waiting--;
        const { type, workspaceId } = question;
        if (type === 'availability' && !isTooSlow(workspaceId)) looks.noteQuestion(workspaceId, nowMs());
      }
    },
    look: async (signal) => {
      if (listSellers && nowMs() - listedAtMs >= expectedEveryMs) await list(listSellers);
      const look = waiting > 0 ? undefined : looks.takeDue(nowMs());
      if (!look) return false;
      try {
        if (!look.hasAsked && !(await read(look, signal))) {
          looks.forget(look.workspaceId, nowMs());
          return true;
        }
        for (let part = 0; part < maxParts && waiting === 0; part++) if (!(await makePart(look, signal))) break;
      } catch (error) {
        looks.forget(look.workspaceId, nowMs());
        if (error instanceof TookTooLong) tooSlow.set(look.workspaceId, nowMs());
        if (!signal.aborted) onError(error);
      }
      return true;
    },
  };
}

/** A forecaster that begins is ready after so long at the latest. */
const maxWarmMs = 90_000;

/** Looks at the workspaces that asked lately, and at those that may ask, until it is disposed. */
export function makeAhead(
  thread: Pick<ComputeThread, 'ask'>,
  { onError, listSellers }: Pick<AheadOptions, 'onError' | 'listSellers'>,
): Pick<Ahead, 'noting'> & AsyncDisposable & { readonly isReady: () => boolean } {
  const { noting, look } = createAhead(thread, { onError, ...(listSellers && { listSellers }) });
  const beganMs = performance.now();
  let isReady = false;
  const run = async (signal: AbortSignal) => {
    const hasLooked = await look(signal);
    // Everybody who may ask was looked at.
    if (!hasLooked) isReady = true;
    return hasLooked;
  };
  const loop = pollLoop({ run, everyMs, onError });
  return {
    ...{ noting, isReady: () => isReady || performance.now() - beganMs > maxWarmMs },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}
