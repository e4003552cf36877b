import { buffer } from 'node:stream/consumers';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import type { RpcContext } from '@longwave/rpc';
import type { ProbeRequest, ProbeResponse } from '@longwave/rpc/probe';
import type { Gate } from '@longwave/service-kit';
import { inspectSource } from '../media/inspect-source.ts';
import { MediaFault } from '../media/media-fault.ts';
import { FfmpegExit } from '../media/run-ffmpeg.ts';
import type { ByteReader } from '../media/source-structure.ts';
import { answerInTime } from './answer-in-time.ts';
import { openAddress } from './open-address.ts';

const maxProbeMs = 15_000;
const presignedSeconds = 60;

/**
 * Inspects a stored object in its store, or a file at an address, of which it reads only what is needed.
 * A file at fault is an answer; a missing object, a store that is down and a probe that takes too long are problems.
 */
export function createProbe(options: {
  readonly store: ObjectStore;
  readonly guardedFetch: GuardedFetch;
  readonly maxSourceBytes: number;
  readonly gate: Gate;
}): (request: ProbeRequest, context: Pick<RpcContext, 'signal' | 'deadline'>) => Promise<ProbeResponse> {
  const { store, guardedFetch, maxSourceBytes, gate } = options;
  return async ({ storageKey, sourceUrl }, context) => {
    if ((storageKey !== '') === (sourceUrl !== undefined))
      throw new Problem('validation_failed', 'Name either a stored object or an address.');
    return await answerInTime({ gate, context, maxMs: maxProbeMs, noun: 'file' }, async (signal) => {
      if (sourceUrl === undefined) return await probeObject(store, storageKey, signal);
      await using file = await openAddress(guardedFetch, sourceUrl, { maxSourceBytes, signal });
      return await inspect(file.url, 'http,tcp', file.reader, signal).catch((error: unknown) => {
        if (!(error instanceof FfmpegExit)) throw error;
        throw new MediaFault(
          'media_not_fetchable',
          'The file could not be read from its host. Try again later.',
          error,
        );
      });
    });
  };
}

async function probeObject(store: ObjectStore, key: string, signal: AbortSignal): Promise<ProbeResponse> {
  const stored = await store.find(key);
  if (!stored) throw new Problem('object_not_found', 'The uploaded file is not stored. Upload it again.');
  const read = async (from: number, to: number) => {
    const end = Math.min(to, stored.sizeBytes);
    signal.throwIfAborted();
    return from < end ? buffer(await store.get(key, { from, to: end })) : Buffer.alloc(0);
  };
  const url = await store.presignGet(key, { expiresInSeconds: presignedSeconds });
  return await inspect(url, 'http,https,tcp,tls', { sizeBytes: stored.sizeBytes, read }, signal);
}

async function inspect(
  url: string,
  protocols: string,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<ProbeResponse> {
  const { container, codec, durationMs, sampleRate, channels, bitrate } = await inspectSource(
    { url, protocols, reader },
    signal,
  );
  return {
    outcome: {
      $case: 'audio',
      value: { container, codec, durationMs: BigInt(durationMs), sampleRate, channels, bitrate },
    },
  };
}
