import { escapeXml } from '@longwave/xml';
import sanitizeHtml, { type IOptions } from 'sanitize-html';

const ellipsis = '…';
const cutEnd = /(?:<[^<>]*|&[a-z0-9#]{0,31})$/i;
const hasTag = /<[a-z/!?]/i;
/** Ends of blocks that are no elements of notes: what follows begins a line. */
const blockEnd = /<\/(?:div|section|article|header|footer|blockquote|pre|tr|dd|dt|figure|table)\s*>/gi;
const anyBlock = /<\/?(?:p|br|li|ul|ol|div|h[1-6]|tr|td|th|blockquote|pre|section|article)\b[^<>]*>/gi;
const webAddress = /\bhttps?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]}]/g;

const isSafe = (address: string | undefined): address is string =>
  address !== undefined && /^(?:https?:\/\/|mailto:)/i.test(address.trim());

const linkOf = (address: string) => ({ href: address.trim(), rel: 'nofollow noopener' });

/** The elements of notes that feeds show. What runs, embeds, styles, sends or loads anything goes; its text stays where it is text. */
const shown: IOptions = {
  allowedTags: ['p', 'br', 'strong', 'em', 'a', 'ul', 'ol', 'li'],
  allowedAttributes: { a: ['href', 'rel'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  transformTags: {
    ...{ b: 'strong', i: 'em', h1: 'p', h2: 'p', h3: 'p', h4: 'p', h5: 'p', h6: 'p' },
    // A link that leads nowhere safe is its text.
    a: (_, { href }) => (isSafe(href) ? { tagName: 'a', attribs: linkOf(href) } : { tagName: 'span', attribs: {} }),
  },
};
const nothing: IOptions = { allowedTags: [], allowedAttributes: {} };

/** At most so many bytes of a text that may be markup, inside neither a character nor a tag nor a reference. */
function cutMarkup(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString('utf8').replace(cutEnd, '') + ellipsis;
}

/** Lines of a text by its paragraphs, which empty lines divide. Line by line, because an expression for spaces before an end of line takes quadratic time. */
function paragraphLines(text: string): readonly (readonly string[])[] {
  const paragraphs: string[][] = [[]];
  for (const line of text.split('\n').map((each) => each.trimEnd())) {
    if (line !== '') paragraphs.at(-1)!.push(line);
    else if (paragraphs.at(-1)!.length > 0) paragraphs.push([]);
  }
  return paragraphs.filter((lines) => lines.length > 0);
}

const linked = (line: string) =>
  line.replace(webAddress, (url) => `<a href="${url}" rel="nofollow noopener">${url}</a>`);

/**
 * Notes of anybody as HTML of `p`, `br`, `strong`, `em`, `a`, `ul`, `ol` and `li`, whatever they were stored as. A text without tags gets
 * paragraphs and links. Equal inputs give equal text.
 * @param maxBytes of the notes; longer ones end with "…"
 */
export function renderNotes(notes: string, maxBytes: number): string {
  const cut = cutMarkup(notes, maxBytes);
  if (hasTag.test(cut)) return sanitizeHtml(cut.replace(blockEnd, '$&<br>'), shown).trim();
  return paragraphLines(sanitizeHtml(cut, nothing))
    .map((lines) => `<p>${lines.map(linked).join('<br>').trimStart()}</p>`)
    .join('\n');
}

const references: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };

/** The words of notes on one line, not escaped, cut between two words to at most so many characters. */
export function plainText(notes: string, maxCharacters: number): string {
  const start = cutMarkup(notes, maxCharacters * 8);
  const words = sanitizeHtml(start.replace(anyBlock, ' $& '), nothing)
    .replace(/&(?:amp|lt|gt|quot);/g, (reference) => references[reference]!)
    .replace(/\s+/g, ' ')
    .trim();
  const characters = [...words];
  if (characters.length <= maxCharacters) return words;
  const cut = characters.slice(0, maxCharacters - 1).join('');
  return cut.replace(/\s+\S{0,40}$/, '') + ellipsis;
}

/** A text escaped, cut to at most so many characters. */
export function cutText(text: string, maxCharacters: number): string {
  const characters = [...text];
  return escapeXml(
    characters.length <= maxCharacters ? text : characters.slice(0, maxCharacters - 1).join('') + ellipsis,
  );
}

/** An address that a link may have; undefined for one that is not of the web. */
export const webAddressOf = (url: string | undefined): string | undefined =>
  url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;
