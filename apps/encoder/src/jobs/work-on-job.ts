import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Redis } from 'ioredis';
import { canonicalFormat } from '@longwave/audio';
import type { ObjectStore } from '@longwave/object-store';
import type { Job } from '@longwave/rpc/job';
import type { Logger } from '@longwave/service-kit';
import { encodeAudio, type EncodedAudio } from '../media/encode-audio.ts';
import { MediaFault } from '../media/media-fault.ts';
import { fetchSource } from './fetch-source.ts';
import { isJobKind, jobInputs } from './job-input.ts';
import { keepLease, LeaseEnded, type JobClient } from './lease.ts';
import { createProgress, type ProgressReporter } from './progress.ts';
import { reportByCommand, type CommandClient } from './report.ts';
import { blobKey, removeBlobs, storeBlob, type StoredBlob } from './stored-blobs.ts';

export interface JobTools {
  readonly store: ObjectStore;
  readonly redis: Redis;
  readonly jobs: JobClient;
  readonly commands: CommandClient;
  /** Folder of this process; each job works in one of its own inside. */
  readonly workFolder: string;
  readonly sourceBytesMax: number;
  readonly logger: Logger;
}

/** What became of one try at a job; exactly one each. `retry` leaves the lease to run out, so that another try takes it. */
export type JobEnd = 'completed' | 'failed' | 'refused' | 'unknown' | 'retry' | 'stopped' | 'lost' | 'shutdown';

const attemptsMax = 5;
const commandTypes = {
  encode_production: { complete: 'production.complete', fail: 'production.fail' },
  encode_creative: { complete: 'creative.record_media', fail: 'creative.fail_media' },
} as const;
const silent: ProgressReporter = {
  report: () => undefined,
  finish: async () => undefined,
  clear: async () => undefined,
};
const gaveUp = () =>
  new MediaFault(
    'encoder_failed',
    'The file could not be encoded because of a fault on our side. Start the encoding again.',
  );

/**
 * One try at a leased job: download, encode, store, report. A file at fault is reported at once; trouble of ours is not, until the
 * fifth try. Leaves no temporary file, and no new object unless the result was reported.
 */
export async function workOnJob(job: Job, tools: JobTools, shutdown: AbortSignal): Promise<JobEnd> {
  const controller = new AbortController();
  const stop = () => controller.abort(new LeaseEnded('shutdown'));
  if (shutdown.aborted) stop();
  shutdown.addEventListener('abort', stop, { once: true });
  const folder = path.join(tools.workFolder, job.leaseId.replaceAll(/[^\w-]/g, '_'));
  const production = job.kind === 'encode_production';
  const onLostTick = (error: unknown) =>
    tools.logger.debug({ err: error, job_id: job.jobId }, 'progress.not_published');
  const progress = production ? createProgress(tools.redis, job.subjectId, onLostTick) : silent;
  const blobs: StoredBlob[] = [];
  let end: JobEnd = 'retry';
  try {
    using _lease = keepLease(tools.jobs, job, controller);
    end = await tryJob(job, tools, folder, progress, blobs, controller.signal);
  } catch (error) {
    if (error instanceof LeaseEnded) end = error.reason;
    else tools.logger.error({ err: error, job_id: job.jobId, attempt: job.attempt }, 'job.try_failed');
  } finally {
    shutdown.removeEventListener('abort', stop);
    await rm(folder, { recursive: true, force: true });
  }
  if (end === 'completed') await progress.finish();
  else await progress.clear();
  if (end !== 'completed' && end !== 'unknown')
    await removeBlobs(tools.store, blobs).catch((error: unknown) =>
      tools.logger.warn({ err: error, job_id: job.jobId }, 'job.blobs_left'),
    );
  tools.logger.info(
    { job_id: job.jobId, kind: job.kind, subject_id: job.subjectId, attempt: job.attempt, end },
    'job.ended',
  );
  return end;
}

async function tryJob(
  job: Job,
  tools: JobTools,
  folder: string,
  progress: ProgressReporter,
  blobs: StoredBlob[],
  signal: AbortSignal,
): Promise<JobEnd> {
  if (!isJobKind(job.kind)) throw new Error(`job of an unknown kind: ${job.kind}`);
  const types = commandTypes[job.kind];
  const report = async (verdict: 'complete' | 'fail', changes: object): Promise<JobEnd> => {
    const outcome = await reportByCommand(
      tools.commands,
      job,
      { commandType: types[verdict], verdict, changes },
      signal,
    );
    if (outcome.kind === 'accepted') return verdict === 'complete' ? 'completed' : 'failed';
    if (outcome.kind === 'refused')
      tools.logger.warn({ job_id: job.jobId, code: outcome.problem.code }, 'job.report_refused');
    return outcome.kind;
  };
  let changes: object;
  try {
    // Five tries that could not even say why they ended have killed their process.
    if (job.attempt > attemptsMax) throw gaveUp();
    changes = await makeMedia(job, tools, folder, progress, blobs, signal);
    signal.throwIfAborted();
  } catch (error) {
    if (error instanceof LeaseEnded || signal.aborted) throw signal.reason ?? error;
    const final = error instanceof MediaFault ? error : job.attempt >= attemptsMax ? gaveUp() : undefined;
    if (!final) throw error;
    if (final !== error) tools.logger.error({ err: error, job_id: job.jobId, attempt: job.attempt }, 'job.given_up');
    return report('fail', { problem: { code: final.code, detail: final.message } });
  }
  return report('complete', changes);
}

/** Makes and stores the blobs of a job; answers what its completing command says. */
async function makeMedia(
  job: Job,
  tools: JobTools,
  folder: string,
  progress: ProgressReporter,
  blobs: StoredBlob[],
  signal: AbortSignal,
): Promise<object> {
  const { store } = tools;
  const json: unknown = JSON.parse(job.inputJson);
  const production = job.kind === 'encode_production' ? jobInputs.encode_production.parse(json) : undefined;
  const input = production ?? jobInputs.encode_creative.parse(json);
  await mkdir(folder, { recursive: true });
  const inputPath = path.join(folder, 'source');
  const outputPath = path.join(folder, 'segment.mp3');
  await fetchSource(
    store,
    { storageKey: input.storage_key, etag: input.source_etag, declaredBytes: production?.declared_size_bytes },
    inputPath,
    {
      maxBytes: tools.sourceBytesMax,
      signal,
      onProgress: (fraction) => progress.report('downloading', fraction),
    },
  );
  const encoded = await encodeAudio({
    inputPath,
    outputPath,
    targetLufs: input.loudness_target_lufs,
    onProgress: (stage, fraction) => progress.report(stage, fraction),
    signal,
  });
  progress.report('storing', 0);
  signal.throwIfAborted();
  const key = blobKey(encoded.sha256);
  blobs.push(
    await storeBlob(store, key, () => store.putFile(key, outputPath, { contentType: canonicalFormat.contentType })),
  );
  if (!production) return creativeMedia(encoded, key);
  const waveform = Buffer.from(JSON.stringify(encoded.waveform));
  const sha256 = createHash('sha256').update(waveform).digest('hex');
  const put = () => store.put(blobKey(sha256), waveform, { contentType: 'application/json' });
  blobs.push(await storeBlob(store, blobKey(sha256), put));
  return productionFiles(encoded, key, { sha256, sizeBytes: waveform.length });
}

function productionFiles(
  encoded: EncodedAudio,
  key: string,
  waveform: { readonly sha256: string; readonly sizeBytes: number },
): object {
  return {
    files: [
      {
        role: 'rendition',
        format: 'mp3',
        stream_format: canonicalFormat.name,
        storage_key: key,
        size_bytes: encoded.sizeBytes,
        sha256: encoded.sha256,
        bitrate: canonicalFormat.bitrate,
        duration_ms: encoded.durationMs,
      },
      {
        role: 'waveform',
        format: 'json',
        storage_key: blobKey(waveform.sha256),
        size_bytes: waveform.sizeBytes,
        sha256: waveform.sha256,
      },
    ],
    audio_duration_ms: encoded.durationMs,
    loudness: {
      input_lufs: encoded.inputLoudness.lufs,
      output_lufs: encoded.outputLoudness.lufs,
      true_peak_dbtp: encoded.outputLoudness.truePeakDbtp,
    },
  };
}

function creativeMedia(encoded: EncodedAudio, key: string): object {
  return {
    media: [
      {
        stream_format: canonicalFormat.name,
        storage_key: key,
        sha256: encoded.sha256,
        size_bytes: encoded.sizeBytes,
        duration_ms: encoded.durationMs,
        loudness_lufs: encoded.outputLoudness.lufs,
        true_peak_dbtp: encoded.outputLoudness.truePeakDbtp,
      },
    ],
    duration_ms: encoded.durationMs,
  };
}
