import { isProblem, Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { Unreadable } from '@longwave/rpc/probe';
import type { Gate } from '@longwave/service-kit';
import { MediaFault } from '../media/media-fault.ts';

type UnreadableAnswer = { readonly outcome: { readonly $case: 'unreadable'; readonly value: Unreadable } };

/**
 * Runs `examine` when the gate admits it, until the caller's deadline or `maxMs`. A file at fault is an answer; a store that is down
 * and an examination that takes too long are problems. `noun` names what is examined, "file" or "image".
 */
export async function answerInTime<T>(
  options: {
    readonly gate: Gate;
    readonly context: Pick<RpcContext, 'signal' | 'deadline'>;
    readonly maxMs: number;
    readonly noun: string;
  },
  examine: (signal: AbortSignal) => Promise<T>,
): Promise<T | UnreadableAnswer> {
  const { gate, context, maxMs, noun } = options;
  const leftMs = Math.max(1, Math.min(maxMs, context.deadline.getTime() - Date.now()));
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(leftMs)]);
  try {
    return await gate(() => examine(signal), signal);
  } catch (error) {
    if (error instanceof MediaFault)
      return { outcome: { $case: 'unreadable', value: { code: error.code, detail: error.message } } };
    if (signal.aborted)
      throw new Problem('timeout', `The ${noun} could not be examined in time. Try again.`, { cause: error });
    // The guarded fetch refuses the address: an answer, like a fault of the file.
    if (isProblem(error, 'media_not_fetchable'))
      return { outcome: { $case: 'unreadable', value: { code: error.code, detail: error.message } } };
    if (error instanceof Problem) throw error;
    throw new Problem('temporarily_unavailable', `The ${noun} could not be examined now. Try again.`, {
      cause: error,
      retryAfterSeconds: 2,
    });
  }
}
