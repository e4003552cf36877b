import { legalText } from '@longwave/xml';

/** Longest text of a node where PSP-1 states no other bound. */
const nodeCharacters = 255;
/** Longest text of a node of the Podcasting 2.0 namespace. */
const tagCharacters = 128;
/** Longest description (PSP-1, channel and item). */
const descriptionBytes = 4000;

const firstCharacters = (text: string, limit: number) => [...legalText(text)].slice(0, limit).join('');

/** The text, cut at whole characters to at most 255 of them. */
export function clip(text: string | undefined): string | undefined {
  return text === undefined ? undefined : firstCharacters(text, nodeCharacters);
}

/** The text, cut at whole characters to at most the 128 that the namespace's tags hold. */
export function clipTag(text: string | undefined): string | undefined {
  return text === undefined ? undefined : firstCharacters(text, tagCharacters);
}

/** A tag or a character reference that the end of the text cuts. */
const cutMarkup = /(?:<(?:[a-z/!?][^<>]*)?|&[a-z0-9#]{0,31})$/i;
const tag = /<(\/?)([a-z][a-z0-9]*)\b[^<>]*>/gi;
const voidElements = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'wbr',
]);

/** End tags of the elements that the markup leaves open. */
function endTags(markup: string): string {
  const open: string[] = [];
  for (const [, slash, name] of markup.matchAll(tag)) {
    const element = name!.toLowerCase();
    if (!slash && !voidElements.has(element)) open.push(element);
    else if (slash && open.includes(element)) open.length = open.lastIndexOf(element);
  }
  return open
    .reverse()
    .map((element) => `</${element}>`)
    .join('');
}

/**
 * The text, cut to at most 4000 bytes of UTF-8, inside neither a character nor a tag nor a character reference of markup. Elements
 * that the cut leaves open are closed.
 */
export function clipDescription(text: string): string {
  const legal = legalText(text);
  const bytes = Buffer.from(legal, 'utf8');
  if (bytes.length <= descriptionBytes) return legal;
  for (let limit = descriptionBytes; ; limit -= 100) {
    let end = Math.max(limit, 0);
    while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
    const cut = bytes.subarray(0, end).toString('utf8').replace(cutMarkup, '');
    const closed = cut + endTags(cut);
    if (Buffer.byteLength(closed) <= descriptionBytes) return closed;
  }
}

const hosted = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?)([^/?#:]+)(.*)$/is;

/** An international host name in ASCII ("xn--…", RFC 5891); any other text stays as it is. */
function withAsciiHost(url: string): string {
  const [, before, host, after] = hosted.exec(url) ?? [];
  // eslint-disable-next-line no-control-regex -- ASCII begins with them
  if (host === undefined || /^[\u0000-\u007f]*$/.test(host)) return url;
  const ascii = URL.parse(`http://${host}`)?.hostname;
  return ascii === undefined ? url : `${before}${ascii}${after}`;
}

/** A URL in ASCII, as Apple asks; characters that are ASCII already stay as they are. */
export function asciiUrl(url: string): string {
  return withAsciiHost(legalText(url)).replace(/[^\u0021-\u007e]+/g, (text) => encodeURIComponent(text));
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number) => String(value).padStart(2, '0');

/** RFC 2822 §3.3 date-time in UTC. */
export function rfc2822Date(at: Date): string {
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(':');
  const date = `${two(at.getUTCDate())} ${months[at.getUTCMonth()]} ${String(at.getUTCFullYear()).padStart(4, '0')}`;
  return `${weekdays[at.getUTCDay()]}, ${date} ${time} +0000`;
}

/** Milliseconds as decimal seconds, "73.5". */
export const decimalSeconds = (ms: number): string => String(Math.round(ms) / 1000);
