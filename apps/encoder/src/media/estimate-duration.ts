import { createInterface } from 'node:readline';
import { FfmpegExit, runFfmpeg, untrustedInput } from './run-ffmpeg.ts';

/** Trailing tags and indexes take less than this share of a file. */
const nearlyAll = 0.9;

/**
 * Duration of the first sound track by walking its packets without decoding them, for files that do not state it. Packets that
 * are not walked within `limitMs`, or cannot be read, are extrapolated by their share of the bytes. 0 when no packet was read.
 */
export async function estimateDurationMs(
  source: { readonly url: string; readonly protocols?: string; readonly sizeBytes: number },
  limitMs: number,
  signal: AbortSignal,
): Promise<number> {
  let [firstSeconds, endSeconds, firstByte, endByte] = [Infinity, 0, -1, 0];
  const consume = async (stdout: NodeJS.ReadableStream) => {
    for await (const line of createInterface({ input: stdout })) {
      const [startSeconds = NaN, durationSeconds = NaN, sizeBytes = NaN, position = NaN] = line.split(',').map(Number);
      if (startSeconds >= 0 || startSeconds < 0) {
        firstSeconds = Math.min(firstSeconds, startSeconds);
        endSeconds = Math.max(endSeconds, startSeconds + (durationSeconds || 0));
      }
      if (position >= 0) {
        if (firstByte < 0) firstByte = position;
        endByte = Math.max(endByte, position + (sizeBytes || 0));
      }
    }
  };
  const limit = AbortSignal.timeout(limitMs);
  const entries = [
    '-select_streams',
    'a:0',
    '-show_entries',
    'packet=pts_time,duration_time,size,pos',
    '-of',
    'csv=p=0',
  ];
  try {
    await runFfmpeg('ffprobe', ['-v', 'error', ...entries, ...untrustedInput(source.url, source.protocols)], {
      signal: AbortSignal.any([signal, limit]),
      consume,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.aborted && !(error instanceof FfmpegExit)) throw error;
  }
  const walkedMs = Math.max(0, endSeconds - firstSeconds) * 1000;
  const walkedShare = (endByte - firstByte) / (source.sizeBytes - Math.max(0, firstByte));
  return Math.round(walkedShare > 0 && walkedShare < nearlyAll ? walkedMs / walkedShare : walkedMs);
}
