/** Entities that feeds use without declaring them, besides those of XML. */
const named: Readonly<Record<string, string>> = {
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
  copy: '©',
  reg: '®',
  trade: '™',
};

function characterOf(reference: string): string | undefined {
  if (!reference.startsWith('#')) return Object.hasOwn(named, reference) ? named[reference] : undefined;
  const hex = /^#x/i.test(reference);
  const code = Number.parseInt(reference.slice(hex ? 2 : 1), hex ? 16 : 10);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** Escaped XML text as it is meant. Nothing is expanded twice, and what was declared in the document is not expanded at all. */
export const unescapeXml = (text: string): string =>
  text.replace(/&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-z]{2,6});/g, (whole, reference: string) => {
    return characterOf(reference) ?? whole;
  });

/** Text without what no store and no feed can hold: control characters and halves of characters. */
export const legalText = (text: string): string =>
  // eslint-disable-next-line no-control-regex -- control characters are what is taken out
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '').toWellFormed();

/** One line of at most `charactersMax` UTF-16 units; undefined when nothing is left. */
export function oneLine(text: string | undefined, charactersMax = 255): string | undefined {
  const line = (text ?? '').replace(/\s+/g, ' ').trim();
  if (line === '') return undefined;
  if (line.length <= charactersMax) return line;
  // A character of two units is not cut in half.
  return `${line.slice(0, charactersMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Text or HTML of at most `bytesMax` bytes of UTF-8, cut before a tag or character that would be halved. */
export function boundedText(text: string, bytesMax = 4000): string {
  const trimmed = text.trim();
  if (Buffer.byteLength(trimmed) <= bytesMax) return trimmed;
  const end = '…';
  // The decoder shows a halved character as U+FFFD at the end.
  const cut = Buffer.from(trimmed)
    .subarray(0, bytesMax - Buffer.byteLength(end))
    .toString()
    .replace(/\ufffd+$/, '');
  const openTag = cut.lastIndexOf('<');
  return (openTag > cut.lastIndexOf('>') ? cut.slice(0, openTag) : cut).trimEnd() + end;
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
