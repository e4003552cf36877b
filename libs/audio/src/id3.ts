/** One entry of the table of contents; times are milliseconds of the delivered file. */
export interface Id3Chapter {
  readonly startMs: number;
  readonly endMs: number;
  readonly title: string;
}

export interface Id3Content {
  /** TIT2: the episode. */
  readonly title: string;
  /** TALB: the podcast. */
  readonly album: string;
  /** TPE1: who speaks. */
  readonly artist: string;
  /** TLEN, milliseconds. */
  readonly lengthMs: number;
  /** CHAP and CTOC; none when empty. */
  readonly chapters?: readonly Id3Chapter[];
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

/** Numbers are plain Latin-1. */
const numberFrame = (id: string, value: number) => frame(id, Buffer.from(`\0${Math.round(value)}`, 'latin1'));

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

/** Table of contents, top level and ordered (Addendum §3.2); its entry count is one byte. */
function contentsFrame(count: number): Buffer {
  const entries = Array.from({ length: count }, (_, index) => elementId(index)).join('');
  return frame(
    'CTOC',
    Buffer.concat([Buffer.from('toc\0', 'latin1'), Buffer.from([3, count]), Buffer.from(entries, 'latin1')]),
  );
}

function frames(content: Id3Content): Buffer {
  const chapters = content.chapters ?? [];
  if (chapters.length > 255) throw new RangeError('a table of contents has at most 255 chapters');
  return Buffer.concat([
    textFrame('TIT2', content.title),
    textFrame('TALB', content.album),
    textFrame('TPE1', content.artist),
    numberFrame('TLEN', content.lengthMs),
    ...(chapters.length ? [contentsFrame(chapters.length), ...chapters.map(chapterFrame)] : []),
  ]);
}

/** Smallest size that `renderId3` accepts for this content. */
export const id3SizeBytes = (content: Id3Content): number => headerBytes + frames(content).length;

/**
 * An ID3v2.3 tag of exactly `sizeBytes`, filled up with zero padding (id3.org, ID3v2.3.0 §3). Equal inputs give equal bytes.
 * Throws `RangeError` when the content does not fit or there are more than 255 chapters.
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
