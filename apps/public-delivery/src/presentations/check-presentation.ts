import { buffer } from 'node:stream/consumers';
import { checkPresentation, readPresentation, type Finding, type ReadResource } from '@longwave/hls-profile';
import { copyChunks } from '../segments/copy-chunks.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { OpenPresentation } from './open-presentation.ts';
import type { PresentationFiles } from './presentation-files.ts';
import { cleanView } from './presentation-routes.ts';
import { readTrack } from './read-track.ts';

/** Nothing is asked by HTTP: the addresses only tell the reader's requests apart. */
const origin = 'http://presentation.invalid';

/**
 * What is wrong with a presentation, read as a player reads it, the first, the middle and the last segment of each playlist. Presentations
 * of sound alone are judged by what any player needs: Apple Podcasts takes video only.
 */
export async function checkOwnPresentation(
  presentation: OpenPresentation,
  {
    files,
    segments,
    now,
  }: {
    readonly files: PresentationFiles;
    readonly segments: Pick<SegmentCache, 'open'>;
    readonly now: () => Date;
  },
): Promise<readonly Finding[]> {
  const { audio } = presentation;
  const base = `/delivery/v1/h/${presentation.digest}/`;
  const read: ReadResource = async ({ url, range }) => {
    const { pathname } = new URL(url);
    if (pathname === `${base}s/${audio.digest}/m.mp4`) {
      const { offset: from, length } = range ?? { offset: 0, length: audio.reader.index.bytes };
      const body = await buffer(copyChunks(readTrack(audio, from, from + length, segments)));
      return { url, status: range ? 206 : 200, body };
    }
    const file = pathname.startsWith(base)
      ? await files.render(presentation, pathname.slice(base.length), cleanView)
      : undefined;
    if (!file) throw new Error(`The presentation names ${pathname}, which it does not have.`);
    return { url, status: 200, body: Buffer.from(file.text, 'utf8') };
  };
  const { presentation: found, findings } = await readPresentation(read, `${origin}${base}main.m3u8`, {
    extent: 'sample',
  });
  if (!found) return findings;
  return checkPresentation(found, { profile: 'general', checkedAt: now().getTime() });
}
