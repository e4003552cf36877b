import { lineOf } from './finding.ts';
import { readFragments } from './mp4/fragments.ts';
import { readInitSection, type InitSection } from './mp4/init-section.ts';
import { Mp4Error } from './mp4/boxes.ts';
import { parsePlaylist } from './parse-playlist.ts';
import type { MapTag, MediaPlaylist, Segment } from './playlist.ts';
import type { MediaKind, MediaRead, SegmentRead } from './presentation.ts';
import type { Reader } from './reader.ts';

/** Which segments of each playlist are read: all, or the first, the one in the middle and the last. */
export type Extent = 'sample' | 'all';

const utf8 = new TextDecoder();

/** The text of a playlist, as `parsePlaylist` reads it; what the standard has against it is told. */
export async function readPlaylist(reader: Reader, uri: string, base: string, where: string) {
  const answer = await reader.get({ uri, base, where, kind: 'playlist' });
  if (!answer) return undefined;
  const playlist = parsePlaylist(utf8.decode(answer.body));
  for (const { line, message } of playlist.problems) reader.tell('syntax', lineOf(where, line), message);
  if (playlist.hasVariables)
    reader.note('Addresses with variables (EXT-X-DEFINE) were taken as they stand, without the values.');
  return { playlist, url: answer.url };
}

const chooseSegments = ({ segments }: MediaPlaylist, extent: Extent): readonly number[] =>
  extent === 'all'
    ? [...segments.keys()]
    : [...new Set([0, Math.floor(segments.length / 2), segments.length - 1])].filter((index) => index >= 0);

/** Reads with `read`; bytes that are no MP4 are told. */
function tryMp4<T>(reader: Reader, where: string, what: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Mp4Error)) throw error;
    reader.tell('whole-fragments', where, `The ${what} cannot be read: ${error.message}. Write fragmented MP4.`);
    return undefined;
  }
}

/** Reads each initialization section once. */
function createInitReader(reader: Reader, base: string, where: string) {
  const read = new Map<string, InitSection | undefined>();
  return {
    async get({ uri, range }: MapTag): Promise<InitSection | undefined> {
      const key = `${range?.offset} ${range?.length} ${uri}`;
      if (!read.has(key)) {
        const answer = await reader.get({ uri, base, range, kind: 'media', where });
        read.set(key, answer && tryMp4(reader, where, 'initialization section', () => readInitSection(answer.body)));
      }
      return read.get(key);
    },
    all: () => [...read.values()].filter((init) => init !== undefined),
  };
}

async function readSegment(
  reader: Reader,
  place: { readonly segment: Segment; readonly index: number; readonly base: string; readonly where: string },
  kind: MediaKind,
  init: InitSection | undefined,
): Promise<SegmentRead | undefined> {
  const { segment, index, base } = place;
  const where = lineOf(place.where, segment.line);
  const isText = kind === 'subtitles';
  const { uri, range } = segment;
  const answer = await reader.get({ uri, base, range, where, kind: isText ? 'captions' : 'media' });
  if (!answer) return undefined;
  const sizeBytes = answer.body.length;
  if (isText) return { index, sizeBytes, text: utf8.decode(answer.body) };
  const media = init && tryMp4(reader, where, 'segment', () => readFragments(answer.body, init));
  return { index, sizeBytes, ...(media && init && { media, init }) };
}

/** A media playlist, its initialization sections and the segments of the extent; undefined, with a finding, when there is no playlist. */
export async function readMedia(
  reader: Reader,
  {
    uri,
    base,
    where,
    kind,
  }: { readonly uri: string; readonly base: string; readonly where: string; readonly kind: MediaKind },
  extent: Extent,
): Promise<MediaRead | undefined> {
  const found = await readPlaylist(reader, uri, base, where);
  if (!found) return undefined;
  const { playlist, url } = found;
  if (playlist.kind !== 'media') {
    reader.tell(
      'syntax',
      where,
      'This is no media playlist: it has variants, not segments. Name a playlist with segments.',
    );
    return undefined;
  }
  const inits = createInitReader(reader, url, where);
  const segments: SegmentRead[] = [];
  const isReadable = kind === 'subtitles' || (playlist.segments.some(({ map }) => map) && !playlist.isEncrypted);
  if (!isReadable)
    reader.note(
      playlist.isEncrypted
        ? `The segments of ${where} are encrypted, so nothing inside them was judged.`
        : `The segments of ${where} are no fMP4 (EXT-X-MAP is absent), so nothing inside them was judged.`,
    );
  if (extent === 'sample' && kind !== 'subtitles' && playlist.segments.some(({ range }) => !range))
    reader.note(`The segments of ${where} are files, of which not all were read, so no rate was judged.`);
  for (const index of isReadable || extent === 'all' ? chooseSegments(playlist, extent) : []) {
    const segment = playlist.segments[index]!;
    const init = isReadable && segment.map && kind !== 'subtitles' ? await inits.get(segment.map) : undefined;
    const read = await readSegment(reader, { segment, index, base: url, where }, kind, init);
    if (read) segments.push(read);
  }
  return { where, url, kind, playlist, inits: inits.all(), segments };
}
