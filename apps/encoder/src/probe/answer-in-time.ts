import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { Unreadable } from '@longwave/rpc/probe';
import type { Gate } from '@longwave/service-kit';
import { MediaFault } from '../media/media-fault.ts';

type Unread = { readonly outcome: { readonly $case: 'unreadable'; readonly value: Unreadable } };

/**
 * Runs `look` when the gate lets it, until the caller's deadline or `msMax`. A file at fault is an answer; a store that is down and
 * a look that takes too long are problems. `noun` is what is looked at, "file" or "image".
 */
export async function answerInTime<T>(
  options: {
    readonly gate: Gate;
    readonly context: Pick<RpcContext, 'signal' | 'deadline'>;
    readonly msMax: number;
    readonly noun: string;
  },
  look: (signal: AbortSignal) => Promise<T>,
): Promise<T | Unread> {
  const { gate, context, msMax, noun } = options;
  const leftMs = Math.max(1, Math.min(msMax, context.deadline.getTime() - Date.now()));
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(leftMs)]);
  try {
    return await gate(() => look(signal), signal);
  } catch (error) {
    if (error instanceof MediaFault)
      return { outcome: { $case: 'unreadable', value: { code: error.code, detail: error.message } } };
    if (signal.aborted)
      throw new Problem('timeout', `The ${noun} could not be examined in time. Try again.`, { cause: error });
    // Said by the guarded fetch about the address: an answer, as the file's faults are.
    if (error instanceof Problem && error.code === 'media_not_fetchable')
      return { outcome: { $case: 'unreadable', value: { code: error.code, detail: error.message } } };
    if (error instanceof Problem) throw error;
    throw new Problem('temporarily_unavailable', `The ${noun} could not be examined now. Try again.`, {
      cause: error,
      retryAfterSeconds: 2,
    });
  }
}
