import { sanitizeNotes } from '../show-notes.ts';

/** Entities that feeds use without declaring them, besides those of XML. Others are not expanded. */
export const namedCharacters: Record<string, string> = Object.assign(Object.create(null) as Record<string, string>, {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  euro: '€',
  pound: '£',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  aacute: 'á',
  agrave: 'à',
  acirc: 'â',
  ccedil: 'ç',
  eacute: 'é',
  egrave: 'è',
  ecirc: 'ê',
  iacute: 'í',
  ntilde: 'ñ',
  oacute: 'ó',
  uacute: 'ú',
});

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string) => text.replace(/[&<>]/g, (character) => escapes[character]!);
/** An ampersand that begins no reference; a parser would search the rest of the document for its end. */
const bareAmpersand = /&(?!(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)/g;
const numericReference = /&#(?:x([0-9a-f]+)|(\d+));/gi;

/** A numeric reference, unless its character is one that XML forbids (XML 1.0, 2.2). */
function legalReference(reference: string, hex: string | undefined, decimal: string | undefined): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const isLegal =
    code <= 0x10ffff &&
    legalText(String.fromCodePoint(code)) !== '' &&
    (code < 0xd800 || code > 0xdfff) &&
    ![0xfffe, 0xffff].includes(code);
  return isLegal ? reference : '';
}

const mended = (text: string) => text.replace(bareAmpersand, '&amp;').replace(numericReference, legalReference);

/**
 * XML whose CDATA is escaped text, without comments, with bare ampersands escaped. Throws when a comment or CDATA never ends.
 */
export function withoutCdata(xml: string): string {
  const parts: string[] = [];
  let from = 0;
  const marks = /<!--|<!\[CDATA\[/g;
  for (let mark = marks.exec(xml); mark; mark = marks.exec(xml)) {
    const isComment = mark[0] === '<!--';
    const end = xml.indexOf(isComment ? '-->' : ']]>', marks.lastIndex);
    if (end < 0) throw new Error(`a ${isComment ? 'comment' : 'CDATA section'} never ends`);
    parts.push(mended(xml.slice(from, mark.index)));
    if (!isComment) parts.push(escaped(xml.slice(marks.lastIndex, end)));
    from = end + 3;
    marks.lastIndex = from;
  }
  return parts.join('') + mended(xml.slice(from));
}

/** Text without control characters and halves of characters, which no store and no feed can hold. */
export const legalText = (text: string): string =>
  // eslint-disable-next-line no-control-regex -- control characters are what is removed
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '').toWellFormed();

/** One line of at most `maxCharacters` UTF-16 units; undefined for an empty one. */
export function oneLine(text: string | undefined, maxCharacters = 255): string | undefined {
  const line = (text ?? '').replace(/\s+/g, ' ').trim();
  if (line === '') return undefined;
  if (line.length <= maxCharacters) return line;
  // A character of two units is not cut in half.
  return `${line.slice(0, maxCharacters - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The text, cut to at most `maxBytes` bytes of UTF-8; the cut never halves a tag or a character. */
function cutMarkup(text: string, maxBytes: number): string {
  const end = '…';
  // The decoder shows a halved character as U+FFFD at the end.
  const decoded = Buffer.from(text)
    .subarray(0, maxBytes - Buffer.byteLength(end))
    .toString();
  let length = decoded.length;
  while (decoded[length - 1] === '\ufffd') length -= 1;
  const cut = decoded.slice(0, length);
  const openTag = cut.lastIndexOf('<');
  return (openTag > cut.lastIndexOf('>') ? cut.slice(0, openTag) : cut).trimEnd() + end;
}

export interface ImportedNotes {
  readonly notes: string;
  /** Whether the sanitiser or the bound removed something. */
  readonly removed: boolean;
  readonly cut: boolean;
}

/** Sanitised text or HTML of at most `maxBytes` bytes of UTF-8, with every element closed. */
export function importNotes(text: string, maxBytes: number): ImportedNotes {
  const { notes: whole, removed } = sanitizeNotes(text.trim());
  let notes = whole;
  const cut = Buffer.byteLength(notes) > maxBytes;
  for (let room = maxBytes; Buffer.byteLength(notes) > maxBytes;) {
    ({ notes } = sanitizeNotes(cutMarkup(notes, room)));
    // The end tags of elements that the cut leaves open need room.
    room -= Math.max(0, Buffer.byteLength(notes) - maxBytes);
  }
  return { notes: notes.trim(), removed, cut };
}

/** Bytes of an XML document as text, by its byte order mark, its own declaration or the header. Undefined for an unknown encoding. */
export function decodeXml(bytes: Uint8Array, contentType = ''): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  const mark = /^(?:\xff\xfe|\xfe\xff|\xef\xbb\xbf)/.exec(start)?.[0];
  const label =
    (mark && { '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be', '\xef\xbb\xbf': 'utf-8' }[mark]) ??
    /charset="?([\w.:-]+)/i.exec(contentType)?.[1] ??
    /^\s*<\?xml[^>]*encoding=["']([\w.:-]+)/i.exec(start)?.[1] ??
    'utf-8';
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return undefined;
  }
}
