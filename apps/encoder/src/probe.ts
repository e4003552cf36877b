import { buffer } from 'node:stream/consumers';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { ProbeRequest, ProbeResponse } from '@longwave/rpc/probe';
import { inspectSource } from './media/inspect-source.ts';
import { MediaFault } from './media/media-fault.ts';

const probeMsMax = 15_000;
const presignedSeconds = 60;

/**
 * Looks into a stored object where it lies, at most `concurrency` at a time; the rest wait until their deadline.
 * A file at fault is an answer; a missing object, a store that is down and a probe that takes too long are problems.
 */
export function createProbe(
  store: ObjectStore,
  concurrency: number,
): (request: ProbeRequest, context: Pick<RpcContext, 'signal' | 'deadline'>) => Promise<ProbeResponse> {
  const waiting: (() => void)[] = [];
  let free = concurrency;
  const enter = async () => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
  };
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else free++;
  };
  return async ({ storageKey }, context) => {
    const leftMs = Math.max(1, Math.min(probeMsMax, context.deadline.getTime() - Date.now()));
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(leftMs)]);
    await enter();
    try {
      signal.throwIfAborted();
      return await probe(store, storageKey, signal);
    } catch (error) {
      if (error instanceof MediaFault)
        return { outcome: { $case: 'unreadable', value: { code: error.code, detail: error.message } } };
      if (error instanceof Problem) throw error;
      if (signal.aborted)
        throw new Problem('timeout', 'The file could not be examined in time. Try again.', { cause: error });
      throw new Problem('temporarily_unavailable', 'The file could not be examined now. Try again.', {
        cause: error,
        retryAfterSeconds: 2,
      });
    } finally {
      leave();
    }
  };
}

async function probe(store: ObjectStore, key: string, signal: AbortSignal): Promise<ProbeResponse> {
  const stored = await store.find(key);
  if (!stored) throw new Problem('object_not_found', 'The uploaded file is not stored. Upload it again.');
  const read = async (from: number, to: number) => {
    const end = Math.min(to, stored.sizeBytes);
    signal.throwIfAborted();
    return from < end ? buffer(await store.get(key, { from, to: end })) : Buffer.alloc(0);
  };
  const url = await store.presignGet(key, { expiresInSeconds: presignedSeconds });
  const found = await inspectSource(
    { url, protocols: 'http,https,tcp,tls', reader: { sizeBytes: stored.sizeBytes, read } },
    signal,
  );
  const { container, codec, durationMs, sampleRate, channels, bitrate } = found;
  return {
    outcome: {
      $case: 'audio',
      value: { container, codec, durationMs: BigInt(durationMs), sampleRate, channels, bitrate },
    },
  };
}
