import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { newId } from '@longwave/ids';
import type { ExecuteRequest } from '@longwave/rpc/command';
import { jobsChannel } from '@longwave/services';
import { until } from '@longwave/test-kit';
import { type World } from './_support.ts';

export interface Source {
  readonly storageKey: string;
  readonly sizeBytes: number;
  readonly etag: string;
  /** The size and checksum that the uploader declared. */
  readonly sha256?: string;
}

/** Jobs for the encoder of one world, and their effects. */
export interface Jobs {
  upload(file: string, contentType?: string): Promise<Source>;
  /** Puts a job of any kind into the queue and wakes the encoder; answers its id. */
  enqueue(kind: string, subjectType: string, subjectId: string, input: object, attempt?: number): string;
  enqueueProduction(
    source: Source | { readonly url: string; readonly declared?: object },
    attempt?: number,
    expected?: 'long',
  ): { readonly jobId: string; readonly productionId: string };
  reportOf(jobId: string): Promise<ExecuteRequest>;
  /** Files in the encoder's work folder. */
  workFiles(): string[];
  /** Command lines of the ffmpeg processes that the encoder in process `parent` runs, or that this found before and that still run. */
  ffmpegs(parent?: number): string[];
}

export function jobsOf(world: World): Jobs {
  let count = 0;
  const found = new Set<string>();
  const enqueue: Jobs['enqueue'] = (kind, subjectType, subjectId, input, attempt = 0) => {
    const jobId = `job_${++count}`;
    world.management.enqueue({ jobId, kind, subjectType, subjectId, inputJson: JSON.stringify(input), attempt });
    void world.redis.publish(jobsChannel, '');
    return jobId;
  };
  return {
    upload: async (file, contentType = 'audio/mpeg') => {
      const bytes = readFileSync(file);
      const storageKey = `uploads/upl_${++count}/${path.basename(file)}`;
      const { etag } = await world.store.put(storageKey, bytes, { contentType });
      return { storageKey, sizeBytes: bytes.length, etag };
    },
    enqueue,
    enqueueProduction: (source, attempt = 0, expected) => {
      const productionId = newId('pro');
      const stored = 'storageKey' in source;
      const input = {
        production_id: productionId,
        episode_id: 'ep_1',
        ...(stored
          ? { storage_key: source.storageKey, source_etag: source.etag }
          : { source_url: source.url, ...(source.declared && { declared: source.declared }) }),
        ...(stored && source.sha256 !== undefined && { declared_sha256: source.sha256 }),
        filename: path.basename(stored ? source.storageKey : source.url),
        declared_size_bytes: stored ? source.sizeBytes : null,
        loudness_target_lufs: -16,
        title: 'An episode',
        podcast_title: 'A podcast',
      };
      if (expected) world.management.expectLong(`job_${count + 1}`);
      const jobId = enqueue('encode_production', 'productions', productionId, input, attempt);
      return { jobId, productionId };
    },
    reportOf: (jobId) =>
      until(() => world.management.executed.find((request) => request.idempotencyKey.startsWith(`${jobId}:`))),
    workFiles: () =>
      readdirSync(path.join(world.folder, 'work'), { recursive: true })
        .map(String)
        .filter((name) => !/^worker-\d+$/.test(name)),
    ffmpegs: (parent = process.pid) => {
      const running = execFileSync('ps', ['-eo', 'pid,ppid,args'])
        .toString()
        .split('\n')
        .map((line) => /^ *(\d+) +(\d+) +((?:nice .*)?ff(?:mpeg|probe) .*)/.exec(line))
        .filter((match) => match !== null)
        .filter(([, pid, ppid]) => Number(ppid) === parent || found.has(pid!));
      for (const [, pid] of running) found.add(pid!);
      return running.map(([, , , args]) => args!);
    },
  };
}
