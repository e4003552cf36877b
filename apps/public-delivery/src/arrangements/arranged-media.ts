import { slicesOf } from '@longwave/audio';
import type { ByteInterval } from '../http/byte-range.ts';
import type { ArrangementPart } from './arrangement.ts';
import type { PartSource } from './part-source.ts';
import { writeBytes, type MediaSource } from './send-media.ts';

/** Chunks of [from, to) with their place; `endsPart` marks the last one of a part, pieces of the header taken as one. */
async function* readParts(parts: readonly ArrangementPart[], { from, to }: ByteInterval, partSource: PartSource) {
  for (const slice of slicesOf(parts, from, to)) {
    const part = parts[slice.part]!;
    await using segment = await partSource.open(part);
    let at = part.offset + slice.from;
    const end = part.offset + slice.to;
    for await (const bytes of segment.read(part.from + slice.from, part.from + slice.to)) {
      yield { bytes, at, endsPart: at + bytes.length === end && parts[slice.part + 1]?.kind !== 'header' };
      at += bytes.length;
    }
    if (at !== end) throw new Error(`part ${part.blob} ended at ${at - part.offset} of ${part.length} bytes`);
  }
}

/** The bytes [from, to) when they are one write, of one part and in memory. */
function findInMemory(
  parts: readonly ArrangementPart[],
  { from, to }: ByteInterval,
  partSource: PartSource,
): readonly Buffer[] | undefined {
  if (to - from > writeBytes) return undefined;
  const [slice, ...others] = slicesOf(parts, from, to);
  if (!slice || others.length > 0) return undefined;
  const part = parts[slice.part]!;
  return partSource.find(part, part.from + slice.from, part.from + slice.to);
}

/** The bytes of an arrangement. */
export const arrangedMedia = (parts: readonly ArrangementPart[], partSource: PartSource): MediaSource => ({
  read: (interval) => readParts(parts, interval, partSource),
  find: (interval) => findInMemory(parts, interval, partSource),
});
