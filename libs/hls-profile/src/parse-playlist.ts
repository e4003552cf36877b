import { parseMediaPlaylist } from './parse-media-playlist.ts';
import { parseMultivariantPlaylist } from './parse-multivariant-playlist.ts';
import { collectProblems, readLines } from './playlist-lines.ts';
import type { Playlist } from './playlist.ts';

const ofMultivariant: readonly string[] = [
  'EXT-X-STREAM-INF',
  'EXT-X-MEDIA',
  'EXT-X-I-FRAME-STREAM-INF',
  'EXT-X-SESSION-DATA',
  'EXT-X-SESSION-KEY',
  'EXT-X-CONTENT-STEERING',
];
const ofMedia: readonly string[] = ['EXTINF', 'EXT-X-TARGETDURATION', 'EXT-X-ENDLIST', 'EXT-X-MEDIA-SEQUENCE'];

/**
 * Reads a playlist (RFC 8216 §4) and keeps everything that a rule may ask: quotation marks, lines, date ranges as they are written. It
 * never throws: what is wrong stands in `problems`, and is left out.
 */
export function parsePlaylist(text: string): Playlist {
  const collector = collectProblems();
  const lines = readLines(text, collector.tell);
  const hasOneOf = (names: readonly string[]) => lines.some((line) => line.kind === 'tag' && names.includes(line.tag));
  const isMultivariant = hasOneOf(ofMultivariant);
  if (isMultivariant && hasOneOf(ofMedia))
    collector.tell(1, 'The playlist has tags of a multivariant and of a media playlist. Make two playlists of it.');
  const head = {
    version: findVersion(lines, collector.tell),
    hasVariables: lines.some((line) => line.kind === 'tag' && line.tag === 'EXT-X-DEFINE'),
  };
  const body = (isMultivariant ? parseMultivariantPlaylist : parseMediaPlaylist)(lines, collector);
  return { ...head, ...body, problems: collector.problems.toSorted((a, b) => a.line - b.line) };
}

function findVersion(lines: ReturnType<typeof readLines>, tell: (line: number, message: string) => void) {
  const [first, second] = lines.filter((line) => line.kind === 'tag' && line.tag === 'EXT-X-VERSION');
  if (second) tell(second.number, 'EXT-X-VERSION stands there twice. Write it once.');
  if (first?.kind !== 'tag') return undefined;
  if (!/^\d{1,3}$/.test(first.value)) tell(first.number, 'EXT-X-VERSION must be a whole number.');
  return Number(first.value);
}
