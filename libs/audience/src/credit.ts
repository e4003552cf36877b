import type { CountedPart } from '@longwave/events';
import { coveredBytes, type Interval } from './intervals.ts';

/** The size of an arrangement and its parts in byte order. */
export interface Layout {
  readonly totalBytes: number;
  readonly parts: readonly CountedPart[];
  /** SHA-256 (hex) of the track of HLS that it is, in one part; absent for an MP3. */
  readonly track?: string | undefined;
}

/** The credit of written bytes in one arrangement of an MP3 (docs/counting.md#from-a-request-to-a-number, steps 3 and 4). */
export interface Credit {
  /** Media bytes: headers are never credited. */
  readonly bytes: number;
  /** Nanoseconds of playing time, inserted segments included. */
  readonly timeNs: bigint;
  /** The same for content parts alone. */
  readonly contentNs: bigint;
  /** Every media byte is credited. */
  readonly complete: boolean;
}

export const thresholdNs = 60_000_000_000n;

/** The parts that play; for an arrangement whose index is unknown, one part without a duration. */
function mediaParts(layout: Layout): readonly CountedPart[] {
  const parts = layout.parts.filter((part) => part.kind !== 'header' && part.to > part.from);
  return parts.length > 0 ? parts : [{ kind: 'content', from: 0, to: layout.totalBytes, duration_ms: 0 }];
}

/**
 * Credits written bytes: each part is constant-bitrate, so its time is bytes × duration / size, kept in whole nanoseconds.
 * @param written a union, from `unionIntervals`
 */
export function creditOf(layout: Layout, written: readonly Interval[]): Credit {
  let bytes = 0;
  let timeNs = 0n;
  let contentNs = 0n;
  let complete = true;
  for (const part of mediaParts(layout)) {
    const sizeBytes = part.to - part.from;
    const covered = coveredBytes(written, part.from, part.to);
    const partNs = sizeBytes === 0 ? 0n : (BigInt(covered) * BigInt(part.duration_ms) * 1_000_000n) / BigInt(sizeBytes);
    bytes += covered;
    timeNs += partNs;
    if (part.kind === 'content') contentNs += partNs;
    if (covered < sizeBytes || sizeBytes === 0) complete = false;
  }
  return { bytes, timeNs, contentNs, complete };
}

/**
 * Whether a credit reaches the threshold: 60.000 s, or every media byte when the arrangement is shorter or the playing time of a part is
 * unknown (docs/counting.md#from-a-request-to-a-number, step 4).
 */
export function isValidDownload(layout: Layout, credit: Credit): boolean {
  const parts = mediaParts(layout);
  const lengthMs = parts.reduce((sum, part) => sum + part.duration_ms, 0);
  const timed = parts.every((part) => part.duration_ms > 0);
  return timed && lengthMs >= 60_000 ? credit.timeNs >= thresholdNs : credit.complete;
}
