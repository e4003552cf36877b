import { createHash } from 'node:crypto';
import { open, rm, writeFile } from 'node:fs/promises';
import type { Silence } from '@longwave/audio';
import {
  aacArguments,
  aacFrameRate,
  aacFramesOfSamples,
  aacTrack,
  cellGrid,
  firstFrames,
  muxAac,
  type CellIndex,
} from '@longwave/hls-media';
import { gainFilters } from './gain-filters.ts';
import type { GainPlan } from './gain-plan.ts';
import { runFfmpeg, untrustedInput } from './run-ffmpeg.ts';

interface MadeFile {
  readonly path: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** One track of HLS in a file, and the index of its cells as JSON in another (docs/hls.md). */
export interface EncodedTrack extends MadeFile {
  /** As `CODECS` of a playlist names it. */
  readonly codec: string;
  readonly frames: number;
  readonly durationMs: number;
  readonly index: MadeFile;
}

/**
 * Encodes the sound of a local source into an AAC track at `outputPath`, and its index beside it. With the plan that the MP3 of the source
 * ended with, both sound alike. Sample n of the source is sample n of the track, and none is lost: the last frame is filled up with silence.
 * Equal inputs give equal bytes (with the same ffmpeg). Leaves no file behind when it fails.
 * Throws the signal's reason when aborted, anything else for a failure of ours: `measureSource` has found the faults of the source.
 */
export async function encodeTrack(options: {
  /** As `measureSource` answers them. */
  readonly source: { readonly url: string; readonly samples: number };
  readonly plan: GainPlan;
  /** Places known today where ads may be inserted, in milliseconds. */
  readonly markersMs: readonly number[];
  /** Of the encoded sound. */
  readonly silences: readonly Silence[];
  readonly outputPath: string;
  /** Receives the encoded part, 0 … 1. */
  readonly onFraction?: (fraction: number) => void;
  readonly signal: AbortSignal;
}): Promise<EncodedTrack> {
  const { source, plan, markersMs, silences, outputPath, onFraction, signal } = options;
  const frames = aacFramesOfSamples(source.samples);
  const durationMs = Math.round((frames * aacTrack.frameSamples * 1000) / aacTrack.sampleRate);
  const starts = firstFrames(cellGrid(source.samples, markersMs, silences), aacFrameRate);
  const args = ['-loglevel', 'error', ...untrustedInput(source.url), ...aacArguments(gainFilters(plan))];
  const indexPath = `${outputPath}.json`;
  try {
    await using file = await open(outputPath, 'w');
    const hash = createHash('sha256');
    let index: CellIndex | undefined;
    await runFfmpeg('ffmpeg', args, {
      signal,
      onPosition: (positionMs) => onFraction?.(Math.min(1, positionMs / durationMs)),
      consume: async (adts) => {
        index = await muxAac(adts as AsyncIterable<Buffer>, starts, frames, async (bytes) => {
          hash.update(bytes);
          await file.writeFile(bytes);
        });
      },
    });
    const json = Buffer.from(JSON.stringify(index!));
    await writeFile(indexPath, json, { signal });
    return {
      path: outputPath,
      sha256: hash.digest('hex'),
      sizeBytes: index!.bytes,
      codec: aacTrack.codec,
      frames,
      durationMs,
      index: { path: indexPath, sha256: createHash('sha256').update(json).digest('hex'), sizeBytes: json.length },
    };
  } catch (error) {
    await Promise.all([outputPath, indexPath].map((path) => rm(path, { force: true })));
    throw error;
  }
}
