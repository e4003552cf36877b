import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { canonicalFormat } from '@longwave/audio';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import { encodeAudio, type EncodedAudio } from '../media/encode-audio.ts';
import { listChapters } from '../media/list-chapters.ts';
import { fetchAddress } from './fetch-address.ts';
import { fetchSource } from './fetch-source.ts';
import type { JobInput } from './job-input.ts';
import type { ProgressReporter } from './progress.ts';
import { blobKey, storeFile } from './stored-blobs.ts';

export interface MediaTools {
  readonly store: ObjectStore;
  /** For sources that lie outside the service. */
  readonly guardedFetch: GuardedFetch;
  readonly sourceBytesMax: number;
}

/**
 * Downloads, encodes and stores the media of a job, working in `folder`; answers the changes of its completing command.
 * Throws `MediaFault` when the source is at fault, the signal's reason when aborted, anything else for trouble of ours.
 */
export async function makeMedia(
  input: JobInput,
  { store, guardedFetch, sourceBytesMax }: MediaTools,
  folder: string,
  progress: Pick<ProgressReporter, 'report'>,
  signal: AbortSignal,
): Promise<object> {
  await mkdir(folder, { recursive: true });
  const inputPath = path.join(folder, 'source');
  const outputPath = path.join(folder, 'segment.mp3');
  const fetching = {
    maxBytes: sourceBytesMax,
    signal,
    onProgress: (fraction: number) => progress.report('downloading', fraction),
  };
  const declaredBytes = input.kind === 'encode_production' ? input.declared_size_bytes : undefined;
  if ('source_url' in input) await fetchAddress(guardedFetch, input.source_url, inputPath, fetching);
  else
    await fetchSource(
      store,
      { storageKey: input.storage_key, etag: input.source_etag, declaredBytes },
      inputPath,
      fetching,
    );
  const encoded = await encodeAudio({
    inputPath,
    outputPath,
    targetLufs: input.loudness_target_lufs,
    onProgress: (stage, fraction) => progress.report(stage, fraction),
    signal,
  });
  progress.report('storing', 0);
  const key = blobKey(encoded.sha256);
  await storeFile(store, { key, path: outputPath, contentType: canonicalFormat.contentType }, signal);
  if (input.kind === 'encode_creative') return creativeMedia(encoded);
  if (input.kind === 'encode_segment') return { segment: segmentOf(encoded) };

  const peaksPath = path.join(folder, 'peaks.json');
  const peaks = Buffer.from(JSON.stringify(encoded.waveform));
  await writeFile(peaksPath, peaks);
  const sha256 = createHash('sha256').update(peaks).digest('hex');
  await storeFile(store, { key: blobKey(sha256), path: peaksPath, contentType: 'application/json' }, signal);
  const source = await describeSource(inputPath, input);
  return productionMedia(encoded, { sha256, sizeBytes: peaks.length }, source);
}

/** What was encoded, as the podcaster gave it. */
async function describeSource(file: string, { filename, ...input }: Extract<JobInput, { kind: 'encode_production' }>) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  const extension = path.extname(filename).slice(1).toLowerCase();
  return {
    role: 'source',
    format: extension === '' ? 'unknown' : extension,
    ...('storage_key' in input && { storage_key: input.storage_key }),
    size_bytes: (await stat(file)).size,
    sha256: hash.digest('hex'),
  };
}

const segmentOf = (encoded: EncodedAudio) => ({
  stream_format: canonicalFormat.name,
  storage_key: blobKey(encoded.sha256),
  sha256: encoded.sha256,
  size_bytes: encoded.sizeBytes,
  duration_ms: encoded.durationMs,
});

function productionMedia(
  encoded: EncodedAudio,
  peaks: { readonly sha256: string; readonly sizeBytes: number },
  source: object,
): object {
  const chapters = listChapters(encoded.source.chapters, encoded.durationMs);
  return {
    files: [
      { role: 'rendition', format: 'mp3', ...segmentOf(encoded), bitrate: canonicalFormat.bitrate },
      {
        role: 'waveform',
        format: 'json',
        storage_key: blobKey(peaks.sha256),
        size_bytes: peaks.sizeBytes,
        sha256: peaks.sha256,
      },
      source,
    ],
    audio_duration_ms: encoded.durationMs,
    loudness: {
      input_lufs: encoded.inputLoudness.lufs,
      output_lufs: encoded.outputLoudness.lufs,
      true_peak_dbtp: encoded.outputLoudness.truePeakDbtp,
    },
    silences: encoded.silences,
    ...(chapters.length > 0 && { chapters }),
  };
}

function creativeMedia(encoded: EncodedAudio): object {
  return {
    media: [
      {
        ...segmentOf(encoded),
        loudness_lufs: encoded.outputLoudness.lufs,
        true_peak_dbtp: encoded.outputLoudness.truePeakDbtp,
      },
    ],
    duration_ms: encoded.durationMs,
  };
}
