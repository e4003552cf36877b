import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import { isProblem, Problem } from '@longwave/problems';
import { cutFeed, type FeedPieces } from './cut-feed.ts';
import { decodeXml } from './feed-text.ts';
import { readChannel, type ImportedChannel } from './read-channel.ts';
import { parseXml, type Namespaces, type XmlNode } from './xml-node.ts';

const maxBytes = 50_000_000;
const timeoutMs = 15_000;
/** For each page of older episodes. */
const olderTimeoutMs = 8_000;
/** For all pages, when no caller waits. */
const allPagesMs = 60_000;
/** A longer feed loses its older items. */
export const maxItems = 5_000;

export interface FetchedFeed {
  /** The document as UTF-8. */
  readonly bytes: Buffer;
  readonly channel: ImportedChannel;
  readonly itemCount: number;
}

const refuse = (detail: string, cause?: unknown) =>
  new Problem('feed_not_importable', detail, cause === undefined ? {} : { cause });

/** The pieces of a stored or fetched document. Throws `feed_not_importable`. */
export function piecesOf(document: string): FeedPieces {
  const pieces = cutFeed(document);
  if (pieces === 'no_rss') throw refuse('The address is not the RSS feed of a podcast. Check it.');
  if (pieces === 'own_declarations')
    throw refuse(
      'The DOCTYPE of the feed declares its own entities or elements. They are not read, because they can make a small file grow ' +
        'without limit. Ask the current host to remove the part of the DOCTYPE in square brackets.',
    );
  return pieces;
}

/** The document around its items. */
export interface FeedFrame {
  readonly channel: XmlNode;
  readonly namespaces: Namespaces;
  readonly fault: string | undefined;
}

/** No podcast has a longer channel. */
const maxChannelCharacters = 1_000_000;

/** Throws `feed_not_importable` when the channel cannot be read. */
export function frameOf({ frame }: FeedPieces): FeedFrame {
  try {
    const parsed = frame.length > maxChannelCharacters ? undefined : parseXml(frame, 'channel');
    if (parsed) return { channel: parsed.node, namespaces: parsed.namespaces, fault: parsed.fault };
  } catch (cause) {
    throw refuse('The feed is not valid XML. Ask the current host to correct it.', cause);
  }
  throw refuse('The feed does not describe a podcast.');
}

/** The address of the next page of older episodes (RFC 5005 §3). */
function nextPageOf(channel: XmlNode, base: string): string | undefined {
  const link = channel.children('atom:link').find((found) => found.attribute('rel') === 'next');
  return URL.parse(link?.attribute('href') ?? '', base)?.href;
}

/** Undefined when the channel cannot be read; its items may be readable. */
function readableFrame(pieces: FeedPieces): FeedFrame | undefined {
  try {
    return frameOf(pieces);
  } catch {
    return undefined;
  }
}

/** Channel trailers that are no items of the feed. An item becomes an episode, which our feed names as a trailer itself. */
function withoutItemTrailers(channel: ImportedChannel, items: readonly string[]): ImportedChannel {
  const { trailers, ...settings } = channel.settings;
  const outside = trailers?.filter(({ url }) => {
    const written = [url, url.replaceAll('&', '&amp;')];
    return !items.some((item) => written.some((address) => item.includes(`"${address}"`)));
  });
  return { ...channel, settings: { ...settings, ...(outside?.length && { trailers: outside }) } };
}

/** An item of another page, with the namespaces that its page declares otherwise than the first. */
function declared(item: string, own: Namespaces, first: Namespaces): string {
  const other = Object.entries(own).filter(([prefix, uri]) => prefix !== '' && first[prefix] !== uri);
  const start = item.slice(0, item.indexOf('>'));
  const missing = other.filter(([prefix]) => !start.includes(`xmlns:${prefix}=`));
  const attributes = missing.map(([prefix, uri]) => ` xmlns:${prefix}="${uri.replace(/[&<"]/g, '')}"`);
  return `<item${attributes.join('')}${item.slice('<item'.length)}`;
}

/**
 * Fetches and checks a feed to import, with its pages of older episodes until one of them fails or the time is over. Throws
 * `feed_not_importable` in words, or `feed_locked` when the owner must first unlock the feed at the present host.
 * @param options.now milliseconds of a clock
 * @param options.endsAtMs the time on that clock at which fetching ends
 * @param options.evenLocked takes a locked feed too, to look at it
 */
export async function fetchFeed(
  fetch: GuardedFetch,
  url: string,
  {
    now,
    endsAtMs = now() + allPagesMs,
    evenLocked = false,
  }: { readonly now: () => number; readonly endsAtMs?: number | undefined; readonly evenLocked?: boolean },
): Promise<FetchedFeed> {
  const first = await fetchPage(fetch, url, { maxBytes, timeoutMs });
  const pieces = piecesOf(first.text);
  const frame = frameOf(pieces);
  const channel = withoutItemTrailers(readChannel(frame.channel, frame.fault), pieces.items);
  const { title } = channel.settings;
  if (title === undefined) throw refuse('The feed has no title.');
  if (channel.locked && !evenLocked)
    throw new Problem(
      'feed_locked',
      `The feed of “${title}” is locked. Set podcast:locked to “no” at the current host, then try again.`,
    );
  const older = await fetchOlderItems(fetch, { pieces, frame, first, msLeft: () => endsAtMs - now() });
  const itemCount = pieces.items.length + older.length;
  if (itemCount === 0) throw refuse(`The feed of “${title}” has no episodes.`);
  const end = first.text.lastIndexOf('</channel');
  const whole = older.length > 0 ? first.text.slice(0, end) + older.join('') + first.text.slice(end) : first.text;
  return { bytes: Buffer.from(whole), channel, itemCount };
}

/** Time for another host to answer with the feed to which a podcast moves. */
const targetTimeoutMs = 10_000;

/** The address of a podcast's feed after redirects. Throws `feed_not_importable` when no feed answers there. */
export async function findFeedAddress(fetch: GuardedFetch, url: string): Promise<string> {
  const { text, finalUrl } = await fetchPage(fetch, url, { maxBytes, timeoutMs: targetTimeoutMs });
  frameOf(piecesOf(text));
  return finalUrl;
}

interface Page {
  readonly text: string;
  readonly finalUrl: string;
}

async function fetchOlderItems(
  fetch: GuardedFetch,
  {
    pieces,
    frame,
    first,
    msLeft,
  }: {
    readonly pieces: FeedPieces;
    readonly frame: FeedFrame;
    readonly first: Page;
    readonly msLeft: () => number;
  },
): Promise<string[]> {
  const items: string[] = [];
  const seen = new Set([first.finalUrl]);
  let charactersLeft = maxBytes - first.text.length;
  let next = nextPageOf(frame.channel, first.finalUrl);
  while (next !== undefined && !seen.has(next) && pieces.items.length + items.length < maxItems) {
    seen.add(next);
    const timeoutMs = Math.min(olderTimeoutMs, msLeft());
    if (timeoutMs < 1 || charactersLeft < 1) break;
    const page = await tryOlderPage(fetch, next, { maxBytes: charactersLeft, timeoutMs });
    // A missing page of older episodes does not prevent the import of the newer ones.
    if (!page) break;
    charactersLeft -= page.sizeCharacters;
    for (const item of page.items) {
      const whole = declared(item, page.namespaces, frame.namespaces);
      charactersLeft -= whole.length - item.length;
      if (charactersLeft < 0) break;
      items.push(whole);
    }
    next = page.next;
  }
  return items;
}

async function tryOlderPage(fetch: GuardedFetch, url: string, bounds: Bounds) {
  try {
    const { text, finalUrl } = await fetchPage(fetch, url, bounds);
    const pieces = piecesOf(text);
    const frame = readableFrame(pieces);
    return {
      items: pieces.items,
      namespaces: frame?.namespaces ?? {},
      next: frame && nextPageOf(frame.channel, finalUrl),
      sizeCharacters: text.length,
    };
  } catch (error) {
    if (isProblem(error, 'feed_not_importable')) return undefined;
    throw error;
  }
}

interface Bounds {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

async function fetchPage(fetch: GuardedFetch, url: string, bounds: Bounds): Promise<Page> {
  try {
    using response = await fetch(url, {
      ...bounds,
      headers: { accept: 'application/rss+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5' },
    });
    if (response.status !== 200)
      throw refuse(`The address answers with status ${response.status} instead of a feed. Check the address.`);
    const text = decodeXml(await readAll(response), response.headers['content-type']);
    if (text === undefined) throw refuse('The feed is written in an unknown character encoding.');
    return { text, finalUrl: response.finalUrl };
  } catch (error) {
    if (isProblem(error, 'media_not_fetchable')) throw refuse(error.message, error);
    throw error;
  }
}
