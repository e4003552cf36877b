import type { OpenSegment } from '../segments/open-segment.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { OpenTrack } from './open-track.ts';

/** The bytes [from, to) of a track, in chunks that are good until the next one is asked for. Each blob is opened once. */
export async function* readTrack(
  { reader, blobBytes }: Pick<OpenTrack, 'reader' | 'blobBytes'>,
  from: number,
  to: number,
  segments: Pick<SegmentCache, 'open'>,
): AsyncGenerator<Buffer> {
  await using stack = new AsyncDisposableStack();
  const open = new Map<string, OpenSegment>();
  for (const slice of reader.slices(from, to)) {
    if ('bytes' in slice) {
      yield slice.bytes;
      continue;
    }
    const { blob } = slice;
    const segment = open.get(blob) ?? stack.use(await segments.open(blob, blobBytes.get(blob)!));
    open.set(blob, segment);
    yield* segment.read(slice.from, slice.to);
  }
}
