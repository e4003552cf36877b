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
/** A part that takes longer is too long for others, who wait for it. */
const longPartMs = 5_000;

interface Asked {
  readonly askedAtMs: number;
  readonly looks: number;
  readonly nextAtMs: number;
}

/** Says when the workspaces that asked lately are looked at. */
function createLooks() {
  /** The workspaces in the order of their last question, the newest last. */
  const asked = new Map<string, Asked>();
  return {
    noteQuestion: (workspaceId: string, nowMs: number): void => {
      asked.delete(workspaceId);
      asked.set(workspaceId, { askedAtMs: nowMs, looks: 0, nextAtMs: nowMs + pausesMs[0] });
      if (asked.size > maxWorkspaces) asked.delete(asked.keys().next().value!);
    },
    /** The workspace that has waited longest for its look; those that have not asked for long are forgotten. */
    takeDue: (nowMs: number): string | undefined => {
      for (const [id, { askedAtMs }] of [...asked]) if (nowMs - askedAtMs >= askedLatelyMs) asked.delete(id);
      const due = [...asked].filter(([, { nextAtMs }]) => nextAtMs <= nowMs);
      const [first] = due.sort(([, a], [, b]) => a.nextAtMs - b.nextAtMs);
      if (!first) return undefined;
      const [id, one] = first;
      const looks = one.looks + 1;
      asked.set(id, { ...one, looks, nextAtMs: nowMs + (pausesMs[looks] ?? pausesMs.at(-1)!) });
      return id;
    },
    forget: (workspaceId: string): void => void asked.delete(workspaceId),
  };
}

interface AheadOptions {
  readonly onError: (error: unknown) => void;
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
 * Makes what the next question of a workspace would make first, on the thread that answers: after something was sold or changed, after an hour
 * has ended, and before a baseline is too old. It makes a part at a time, and none while somebody waits; who asks meanwhile waits for one part
 * at most. A workspace of which a part takes more than five seconds is left to its questions.
 */
export function createAhead(thread: Pick<ComputeThread, 'ask'>, { onError, nowMs = Date.now }: AheadOptions): Ahead {
  const looks = createLooks();
  const tooSlow = new LRUCache<string, true>({ max: 100 });
  let waiting = 0;
  // Nobody leaves, and nobody has the thread compute for longer than a minute.
  const left = new AbortController().signal;
  const makePart = async (workspaceId: string, ended: AbortSignal) => {
    const startedAtMs = nowMs();
    const isMade = await thread.ask({ type: 'ahead', workspaceId, deadlineMs: readMs }, { left, ended });
    if (nowMs() - startedAtMs > longPartMs)
      throw new TookTooLong('what is made ahead takes too long for whoever waits');
    return isMade;
  };
  return {
    noting: (check) => async (question, signal) => {
      waiting++;
      try {
        return await check(question, signal);
      } finally {
        waiting--;
        const { type, workspaceId } = question;
        if (type === 'availability' && !tooSlow.has(workspaceId)) looks.noteQuestion(workspaceId, nowMs());
      }
    },
    look: async (signal) => {
      const workspaceId = waiting > 0 ? undefined : looks.takeDue(nowMs());
      if (workspaceId === undefined) return false;
      try {
        for (let part = 0; part < maxParts && waiting === 0; part++) if (!(await makePart(workspaceId, signal))) break;
      } catch (error) {
        looks.forget(workspaceId);
        if (error instanceof TookTooLong) tooSlow.set(workspaceId, true);
        if (!signal.aborted) onError(error);
      }
      return true;
    },
  };
}

/** Looks at the workspaces that asked lately until it is disposed. */
export function makeAhead(
  thread: Pick<ComputeThread, 'ask'>,
  { onError }: Pick<AheadOptions, 'onError'>,
): Pick<Ahead, 'noting'> & AsyncDisposable {
  const { noting, look } = createAhead(thread, { onError });
  const loop = pollLoop({ run: look, everyMs, onError, sleepsFirst: true });
  return { noting, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}
