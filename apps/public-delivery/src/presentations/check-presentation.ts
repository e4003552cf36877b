import { buffer } from 'node:stream/consumers';
import { checkPresentation, readPresentation, type Finding, type ReadResource } from '@longwave/hls-profile';
import { copyChunks } from '../segments/copy-chunks.ts';
import { segmentOfStore, type SegmentStore } from '../segments/open-segment.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { OpenPresentation } from './open-presentation.ts';
import type { PresentationFiles } from './presentation-files.ts';
import { cleanView } from './presentation-routes.ts';
import { readTrack } from './read-track.ts';

/** Nothing is asked by HTTP: the addresses only tell the reader's requests apart. */
const origin = 'http://presentation.invalid';

/**
 * What is wrong with a presentation, read as a player reads it, the first, the middle and the last segment of each playlist. Those
 * with pictures are judged by what Apple Podcasts takes, those of sound alone by what any player needs: it takes video only.
 */
export async function checkOwnPresentation(
  presentation: OpenPresentation,
  {
    files,
    segments,
    store,
    now,
  }: {
    readonly files: PresentationFiles;
    readonly segments: Pick<SegmentCache, 'open'>;
    /** Files of pictures are large, and little of them is read: they do not come into the cache. */
    readonly store: SegmentStore;
    readonly now: () => Date;
  },
): Promise<readonly Finding[]> {
  const base = `/delivery/v1/h/${presentation.digest}/`;
  const below = (path: string) => (path.startsWith(base) ? path.slice(base.length) : undefined);
  const read: ReadResource = async ({ url, range }) => {
    const { pathname } = new URL(url);
    const track = presentation.tracks.get(/^s\/([0-9a-f]{64})\/m\.mp4$/.exec(below(pathname) ?? '')?.[1] ?? '');
    if (track) {
      const { offset: from, length } = range ?? { offset: 0, length: track.reader.index.bytes };
      const opened = track.media === 'audio' ? segments : { open: async (blob: string) => segmentOfStore(store, blob) };
      const body = await buffer(copyChunks(readTrack(track, from, from + length, opened)));
      return { url, status: range ? 206 : 200, body };
    }
    const path = below(pathname);
    const file = path === undefined ? undefined : await files.render(presentation, path, cleanView);
    if (!file) throw new Error(`The presentation names ${pathname}, which it does not have.`);
    return { url, status: 200, body: Buffer.from(file.text, 'utf8') };
  };
  const { presentation: found, findings } = await readPresentation(read, `${origin}${base}main.m3u8`, {
    extent: 'sample',
  });
  if (!found) return findings;
  return checkPresentation(found, { profile: presentation.pictures ? 'apple' : 'general', checkedAt: now().getTime() });
}
