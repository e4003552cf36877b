import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { canonicalFormat } from '@longwave/audio';
import type { ChangesInput } from '@longwave/command-catalog';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import { encodeAudio, encodeLadder, type EncodedAudio, type EncodedSegment } from '../media/encode-audio.ts';
import { inspectPicture } from '../media/inspect-source.ts';
import { listChapters } from '../media/list-chapters.ts';
import { fetchAddress } from './fetch-address.ts';
import { fetchSource, type FetchedFile, type FetchOptions } from './fetch-source.ts';
import type { JobInput } from './job-input.ts';
import { makeStillPictures, makeVideo } from './make-pictures.ts';
import { makeAdTracks, makeLaterTrack, makeTrack, type Workplace } from './make-track.ts';
import type { ProgressReporter } from './progress.ts';
import type { Completion } from './report.ts';
import { blobKey, storeFile, storeTrack } from './stored-blobs.ts';

export interface MediaDeps {
  readonly store: ObjectStore;
  /** For sources that lie outside the service. */
  readonly guardedFetch: GuardedFetch;
  readonly maxSourceBytes: number;
}

/**
 * Downloads, encodes and stores the media of a job, working in `folder`; answers the command that completes it.
 * Throws `MediaFault` when the source is at fault, the signal's reason when aborted, anything else for a failure of ours.
 */
export async function makeMedia(
  input: JobInput,
  deps: MediaDeps,
  folder: string,
  progress: Pick<ProgressReporter, 'report'>,
  signal: AbortSignal,
): Promise<Completion> {
  await mkdir(folder, { recursive: true });
  const workplace = { store: deps.store, folder, signal, progress };
  if (input.kind === 'encode_creative_pictures' && !('storage_key' in input))
    return { commandType: 'creative.record_pictures', changes: await makeStillPictures(input, workplace) };
  const inputPath = path.join(folder, 'source');
  const fetch = () =>
    fetchInput(input, deps, inputPath, {
      maxBytes: deps.maxSourceBytes,
      signal,
      onProgress: (fraction) => progress.report('downloading', fraction),
    });
  if (input.kind === 'encode_hls_video' || input.kind === 'encode_creative_pictures')
    return makeVideo(input, workplace, async () => ({ path: inputPath, ...(await fetch()) }));
  const fetched = await fetch();
  if (input.kind === 'encode_hls_audio') {
    const file = await makeLaterTrack(input, { path: inputPath, sha256: fetched.sha256 }, workplace);
    return { commandType: 'production.record_track', changes: { track: 'a192', file } };
  }
  if (input.kind === 'encode_creative') {
    return { commandType: 'creative.record_media', changes: await makeAd(input, inputPath, workplace) };
  }
  if (input.kind === 'encode_creative_tracks') {
    const tracks = await makeAdTracks(input, inputPath, workplace);
    return { commandType: 'creative.record_tracks', changes: { tracks } };
  }
  const encoded = await encodeAudio({
    inputPath,
    outputPath: path.join(folder, 'segment.mp3'),
    targetLufs: input.loudness_target_lufs,
    onProgress: (stage, fraction) => progress.report(stage, fraction),
    signal,
  });
  progress.report('storing', 0);
  await storeSegment(deps.store, encoded, signal);
  if (input.kind === 'encode_segment') {
    const source = { url: `file:${inputPath}`, samples: encoded.samples };
    const hls = await makeTrack({ ...encoded, source, markersMs: [] }, workplace);
    return { commandType: `podcast.record_${input.part}`, changes: { segment: { ...segmentOf(encoded), hls } } };
  }

  const peaksPath = path.join(folder, 'peaks.json');
  const peaks = Buffer.from(JSON.stringify(encoded.waveform));
  await writeFile(peaksPath, peaks);
  const sha256 = createHash('sha256').update(peaks).digest('hex');
  await storeFile(deps.store, { key: blobKey(sha256), path: peaksPath, contentType: 'application/json' }, signal);
  const waveform = { sha256, sizeBytes: peaks.length };
  return { commandType: 'production.complete', changes: productionMedia(encoded, waveform, sourceOf(input, fetched)) };
}

/** The streams of an ad at each loudness, with their tracks. Throws as `encodeLadder`. */
async function makeAd(
  input: Extract<JobInput, { kind: 'encode_creative' }>,
  inputPath: string,
  { store, folder, signal }: Workplace,
): Promise<CreativeMedia> {
  if (input.needs_picture) await inspectPicture(inputPath, signal);
  const steps = await encodeLadder({ inputPath, folder, targetsLufs: input.loudness_targets_lufs, signal });
  const media: CreativeMedia['media'] = [];
  for (const step of steps) {
    await storeSegment(store, step, signal);
    media.push({ ...streamOf(step), hls: await storeTrack(store, step.track, signal) });
  }
  return { media, duration_ms: steps[0]!.durationMs };
}

/** Brings the source of a job to `target`. */
function fetchInput(
  input: Extract<JobInput, { storage_key: string } | { source_url: string }>,
  { store, guardedFetch }: MediaDeps,
  target: string,
  options: FetchOptions,
): Promise<FetchedFile> {
  if ('source_url' in input)
    return fetchAddress(guardedFetch, input.source_url, target, {
      ...options,
      declared: input.kind === 'encode_production' ? input.declared : undefined,
    });
  const declaredBytes = input.kind === 'encode_production' ? input.declared_size_bytes : undefined;
  const { storage_key: storageKey, source_etag: etag, declared_sha256: declaredSha256 } = input;
  return fetchSource(store, { storageKey, etag, declaredBytes, declaredSha256 }, target, options);
}

const storeSegment = (store: ObjectStore, { sha256, path }: EncodedSegment, signal: AbortSignal) =>
  storeFile(store, { key: blobKey(sha256), path, contentType: canonicalFormat.contentType }, signal);

type ProductionMedia = ChangesInput<'production.complete'>;

/** The source file, as the podcaster sent it. */
function sourceOf(
  input: Extract<JobInput, { kind: 'encode_production' }>,
  { sizeBytes, sha256 }: FetchedFile,
): ProductionMedia['files'][number] {
  const extension = path.extname(input.filename).slice(1).toLowerCase();
  return {
    role: 'source',
    format: extension === '' ? 'unknown' : extension,
    ...('storage_key' in input && { storage_key: input.storage_key }),
    size_bytes: sizeBytes,
    sha256,
  };
}

const segmentOf = (encoded: EncodedSegment) => ({
  stream_format: canonicalFormat.name,
  storage_key: blobKey(encoded.sha256),
  sha256: encoded.sha256,
  size_bytes: encoded.sizeBytes,
  duration_ms: encoded.durationMs,
});

function productionMedia(
  encoded: EncodedAudio,
  peaks: { readonly sha256: string; readonly sizeBytes: number },
  source: ProductionMedia['files'][number],
): ProductionMedia {
  const chapters = listChapters(encoded.source.chapters, encoded.durationMs);
  const { picture } = encoded.source;
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
      output_lufs: encoded.loudness.lufs,
      true_peak_dbtp: encoded.loudness.truePeakDbtp,
    },
    gain: {
      gain_db: encoded.plan.gainDb,
      ...(encoded.plan.ceilingDb !== undefined && { ceiling_db: encoded.plan.ceilingDb }),
    },
    silences: encoded.silences.map(([start, end]) => [start, end]),
    ...(picture && { picture: { width: picture.width, height: picture.height, frame_rate: picture.frameRate } }),
    ...(chapters.length > 0 && { chapters }),
    ...(encoded.warnings.length > 0 && { warnings: [...encoded.warnings] }),
  };
}

type CreativeMedia = ChangesInput<'creative.record_media'>;

const streamOf = (step: EncodedSegment) => ({
  ...segmentOf(step),
  loudness_lufs: step.loudness.lufs,
  true_peak_dbtp: step.loudness.truePeakDbtp,
});
