import { quotedOf } from './attributes.ts';
import type { PlaylistLine, ProblemCollector } from './playlist-lines.ts';
import type { ByteRange, DateRangeTag, MapTag, MediaPlaylist, Segment } from './playlist.ts';

type Body = Omit<MediaPlaylist, 'version' | 'problems' | 'hasVariables'>;
type Tag = Extract<PlaylistLine, { kind: 'tag' }>;

/** What the lines so far say about the segments that come. */
interface State {
  targetSeconds?: number;
  playlistType?: string;
  isIFramesOnly: boolean;
  hasEndList: boolean;
  isEncrypted: boolean;
  /** Of the segment whose address comes next. */
  next: {
    durationSeconds?: number;
    byteRange?: { length: number; offset: number | undefined };
    isDiscontinuity: boolean;
  };
  map?: MapTag;
  readonly segments: Segment[];
  readonly dateRanges: DateRangeTag[];
  seconds: number;
  hadDiscontinuity: boolean;
  dateOfNext?: number;
  startsAt?: number;
}

const byteRange = /^(\d{1,15})(?:@(\d{1,15}))?$/;

/** ISO 8601 with a date, a time and, as playlists should, a zone. */
export const parseDate = (text: string): number | undefined => {
  const date = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
};

function readMap(line: Tag, problems: ProblemCollector): MapTag | undefined {
  const attributes = problems.attributesOf(line);
  const uri = quotedOf(attributes, 'URI');
  const text = quotedOf(attributes, 'BYTERANGE');
  if (uri === undefined) return undefined;
  if (text === undefined) return { uri, range: undefined };
  const [, length, offset = '0'] = byteRange.exec(text) ?? [];
  if (length === undefined) problems.tell(line.number, 'BYTERANGE of EXT-X-MAP must be LENGTH@OFFSET.');
  return { uri, range: length === undefined ? undefined : { offset: Number(offset), length: Number(length) } };
}

/** What each tag changes. */
const readers: Readonly<Record<string, (state: State, line: Tag, problems: ProblemCollector) => void>> = {
  'EXT-X-TARGETDURATION': (state, { number, value }, { tell }) => {
    if (!/^\d{1,6}$/.test(value)) tell(number, 'EXT-X-TARGETDURATION must be a whole number of seconds.');
    else state.targetSeconds = Number(value);
  },
  'EXT-X-PLAYLIST-TYPE': (state, { value }) => void (state.playlistType = value),
  'EXT-X-I-FRAMES-ONLY': (state) => void (state.isIFramesOnly = true),
  'EXT-X-ENDLIST': (state) => void (state.hasEndList = true),
  'EXT-X-KEY': (state, { value }) => void (state.isEncrypted ||= !value.includes('METHOD=NONE')),
  'EXT-X-DISCONTINUITY': (state) => void (state.next.isDiscontinuity = true),
  'EXT-X-MAP': (state, line, problems) => {
    const map = readMap(line, problems);
    if (map) state.map = map;
  },
  'EXT-X-DATERANGE': (state, line, problems) =>
    void state.dateRanges.push({ line: line.number, text: line.text, attributes: problems.attributesOf(line) }),
  'EXT-X-PROGRAM-DATE-TIME': (state, { number, value }, { tell }) => {
    const date = parseDate(value);
    if (date === undefined)
      tell(number, 'EXT-X-PROGRAM-DATE-TIME must be a date and time, as 2020-01-01T00:00:00.000Z.');
    else state.dateOfNext = date;
  },
  EXTINF: (state, { number, value }, { tell }) => {
    const [, seconds, comma] = /^(\d{1,6}(?:\.\d+)?)(,)?/.exec(value) ?? [];
    if (seconds === undefined || comma === undefined)
      tell(number, 'EXTINF must be a number of seconds with a comma after it.');
    if (seconds !== undefined) state.next.durationSeconds = Number(seconds);
  },
  'EXT-X-BYTERANGE': (state, { number, value }, { tell }) => {
    const [, length, offset] = byteRange.exec(value) ?? [];
    if (length === undefined) tell(number, 'EXT-X-BYTERANGE must be LENGTH or LENGTH@OFFSET.');
    else state.next.byteRange = { length: Number(length), offset: offset === undefined ? undefined : Number(offset) };
  },
};

/** The bytes of a segment; without an offset they follow those of the segment before (RFC 8216 §4.3.2.2). */
function rangeOf(
  { next, segments }: State,
  uri: string,
  line: number,
  { tell }: ProblemCollector,
): ByteRange | undefined {
  if (!next.byteRange) return undefined;
  const { length, offset } = next.byteRange;
  if (offset !== undefined) return { offset, length };
  const before = segments.at(-1);
  if (before?.uri === uri && before.range) return { offset: before.range.offset + before.range.length, length };
  tell(line, 'EXT-X-BYTERANGE has no offset, and no segment before it is part of the same file. Write LENGTH@OFFSET.');
  return { offset: 0, length };
}

function addSegment(state: State, uri: string, line: number, problems: ProblemCollector): void {
  const { next, seconds } = state;
  if (next.durationSeconds === undefined) problems.tell(line, 'This address has no EXTINF. Write one before it.');
  const durationSeconds = next.durationSeconds ?? 0;
  const range = rangeOf(state, uri, line, problems);
  const { isDiscontinuity } = next;
  state.hadDiscontinuity ||= isDiscontinuity;
  state.segments.push({ line, uri, durationSeconds, startSeconds: seconds, range, map: state.map, isDiscontinuity });
  if (state.dateOfNext !== undefined && !state.hadDiscontinuity) state.startsAt ??= state.dateOfNext - seconds * 1000;
  delete state.dateOfNext;
  state.seconds += durationSeconds;
  state.next = { isDiscontinuity: false };
}

/** The part of a media playlist that a multivariant playlist has not. */
export function parseMediaPlaylist(lines: readonly PlaylistLine[], problems: ProblemCollector): Body {
  const state: State = {
    isIFramesOnly: false,
    hasEndList: false,
    isEncrypted: false,
    next: { isDiscontinuity: false },
    segments: [],
    dateRanges: [],
    seconds: 0,
    hadDiscontinuity: false,
  };
  for (const line of lines) {
    if (line.kind === 'uri') addSegment(state, line.text, line.number, problems);
    else if (Object.hasOwn(readers, line.tag)) readers[line.tag]!(state, line, problems);
  }
  if (state.targetSeconds === undefined) problems.tell(1, 'The playlist has no EXT-X-TARGETDURATION. Add it.');
  if (state.segments.length === 0) problems.tell(1, 'The playlist has no segment.');
  const { targetSeconds, playlistType, isIFramesOnly, hasEndList, isEncrypted, segments, dateRanges } = state;
  return {
    kind: 'media',
    ...{ targetSeconds, playlistType, isIFramesOnly, hasEndList, isEncrypted, segments, dateRanges },
    startsAt: state.startsAt,
    lengthSeconds: state.seconds,
  };
}
