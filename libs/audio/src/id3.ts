/** One entry of the table of contents; times are milliseconds of the delivered file. */
export interface Id3Chapter {
  readonly startMs: number;
  readonly endMs: number;
  readonly title: string;
}

/** A picture of the whole file. */
interface Id3Picture {
  readonly contentType: 'image/jpeg' | 'image/png';
  readonly bytes: Uint8Array;
}

export interface Id3Content {
  /** TIT2: the episode. */
  readonly title: string;
  /** TALB: the podcast. */
  readonly album: string;
  /** TPE1: the author. */
  readonly artist: string;
  /** TLEN, milliseconds. */
  readonly lengthMs: number;
  /** TCON */
  readonly genre?: string | undefined;
  /** TRCK: number of the episode. */
  readonly track?: number | undefined;
  /** TYER, TDAT and TIME, in UTC. */
  readonly publishedAt?: Date | undefined;
  /** WOAF: page of the episode, an absolute address. */
  readonly page?: string | undefined;
  /** CHAP and CTOC; none when empty. */
  readonly chapters?: readonly Id3Chapter[] | undefined;
  /** APIC, as front cover. */
  readonly picture?: Id3Picture | undefined;
}

const headerBytes = 10;

function frame(id: string, body: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.write(id, 'latin1');
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** Text in UTF-16 with a byte order mark, the only encoding of ID3v2.3 that holds every language; no terminator. */
const textFrame = (id: string, text: string) =>
  frame(id, Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(text.replaceAll('\0', ''), 'utf16le')]));

/** Numbers and dates are plain Latin-1. */
const plainFrame = (id: string, text: string) => frame(id, Buffer.from(`\0${text}`, 'latin1'));
const numberFrame = (id: string, value: number) => plainFrame(id, String(Math.round(value)));

/** Year, day with month, and hour with minute: four digits each (ID3v2.3.0 §4.2.1). */
function dateFrames(at: Date): Buffer[] {
  const [year, month, day, hour, minute] = at.toISOString().split(/\D/);
  return [plainFrame('TYER', year!), plainFrame('TDAT', `${day}${month}`), plainFrame('TIME', `${hour}${minute}`)];
}

/** Links carry no encoding: an address is ASCII (ID3v2.3.0 §4.3.1). */
const linkFrame = (id: string, url: string) => frame(id, Buffer.from(new URL(url).href, 'latin1'));

const elementId = (index: number) => `chp${index}\0`;

/** Chapter frame (ID3v2 Chapter Frame Addendum §3.1); byte offsets unused (all ones). */
function chapterFrame(chapter: Id3Chapter, index: number): Buffer {
  const times = Buffer.alloc(16, 0xff);
  times.writeUInt32BE(Math.round(chapter.startMs), 0);
  times.writeUInt32BE(Math.round(chapter.endMs), 4);
  return frame(
    'CHAP',
    Buffer.concat([Buffer.from(elementId(index), 'latin1'), times, textFrame('TIT2', chapter.title)]),
  );
}

/** The entry count of a table of contents is one byte. */
const maxEntries = 255;
const topLevel = 2;
const ordered = 1;

const contentsFrame = (id: string, flags: number, entries: readonly string[]) =>
  frame(
    'CTOC',
    Buffer.concat([
      Buffer.from(`${id}\0`, 'latin1'),
      Buffer.from([flags, entries.length]),
      Buffer.from(entries.join(''), 'latin1'),
    ]),
  );

/** Tables of contents, ordered (Addendum §3.2): one of the top level, with tables below it when one cannot hold all entries. */
function contentsFrames(count: number): Buffer[] {
  const ids = Array.from({ length: count }, (_, index) => elementId(index));
  if (count <= maxEntries) return [contentsFrame('toc', topLevel | ordered, ids)];
  const parts = Array.from({ length: Math.ceil(count / maxEntries) }, (_, part) => `toc${part}`);
  if (parts.length > maxEntries) throw new RangeError(`a tag holds at most ${maxEntries * maxEntries} chapters`);
  return [
    contentsFrame(
      'toc',
      topLevel | ordered,
      parts.map((id) => `${id}\0`),
    ),
    ...parts.map((id, part) => contentsFrame(id, ordered, ids.slice(part * maxEntries, (part + 1) * maxEntries))),
  ];
}

/** Attached picture of type 3, front cover, without a description (ID3v2.3.0 §4.15). */
const pictureFrame = ({ contentType, bytes }: Id3Picture) =>
  frame('APIC', Buffer.concat([Buffer.from(`\0${contentType}\0\x03\0`, 'latin1'), bytes]));

function frames(content: Id3Content): Buffer {
  const chapters = content.chapters ?? [];
  const { genre, track, publishedAt, page } = content;
  return Buffer.concat([
    textFrame('TIT2', content.title),
    textFrame('TALB', content.album),
    textFrame('TPE1', content.artist),
    ...(genre === undefined ? [] : [textFrame('TCON', genre)]),
    ...(track === undefined ? [] : [numberFrame('TRCK', track)]),
    ...(publishedAt === undefined ? [] : dateFrames(publishedAt)),
    ...(page === undefined ? [] : [linkFrame('WOAF', page)]),
    numberFrame('TLEN', content.lengthMs),
    ...(chapters.length ? [...contentsFrames(chapters.length), ...chapters.map(chapterFrame)] : []),
    ...(content.picture ? [pictureFrame(content.picture)] : []),
  ]);
}

/** Smallest size that `renderId3` accepts for this content. */
export const id3SizeBytes = (content: Id3Content): number => headerBytes + frames(content).length;

/**
 * An ID3v2.3 tag of exactly `sizeBytes`, filled up with zero padding (id3.org, ID3v2.3.0 §3). Equal inputs give equal bytes.
 * Throws `RangeError` when the content does not fit or there are more than 65,025 chapters.
 */
export function renderId3(content: Id3Content, sizeBytes: number): Buffer {
  const body = frames(content);
  const room = sizeBytes - headerBytes;
  if (body.length > room)
    throw new RangeError(`the tag needs ${headerBytes + body.length} bytes, ${sizeBytes} are given`);
  if (room >= 1 << 28) throw new RangeError('an ID3v2 tag is smaller than 256 MiB');
  const tag = Buffer.alloc(sizeBytes);
  tag.write('ID3\x03\0\0', 'latin1');
  for (let i = 0; i < 4; i++) tag[6 + i] = (room >> (7 * (3 - i))) & 0x7f;
  body.copy(tag, headerBytes);
  return tag;
}
