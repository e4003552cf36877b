import { z } from 'zod';

/** How far a group is in one partition; kept as metadata of the committed offset, so a consumer's death is counted. */
export interface Progress {
  /** The first message that is not finished. */
  readonly offset: bigint;
  /** How often that message was handed over. */
  readonly tries: number;
  /** Messages below this offset were handed over at least once. */
  readonly until: bigint;
}

const metadataSchema = z.strictObject({ tries: z.int().min(0), until: z.string().regex(/^\d{1,19}$/) });

export function progressMetadata({ tries, until }: Progress): string {
  return JSON.stringify({ tries, until: String(until) });
}

/** Foreign or absent metadata means: nothing was handed over yet. */
export function tryParseProgress(offset: string, metadata: string | null): Progress {
  const start = BigInt(offset);
  try {
    const { tries, until } = metadataSchema.parse(JSON.parse(metadata ?? ''));
    return { offset: start, tries, until: BigInt(until) };
  } catch {
    return { offset: start, tries: 0, until: start };
  }
}

export function triesOf(offset: bigint, progress: Progress): number {
  if (offset === progress.offset) return progress.tries;
  return offset > progress.offset && offset < progress.until ? 1 : 0;
}
