import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { cutFeed, type FeedPieces } from './cut-feed.ts';
import { decodeXml } from './feed-text.ts';
import { readChannel, type ImportedChannel } from './read-channel.ts';
import { parseXml, type XmlNode } from './xml-node.ts';

const bytesMax = 50_000_000;
const timeoutMs = 15_000;
/** Of each page of older episodes. */
const olderTimeoutMs = 8_000;
/** Of all pages, when nobody waits for them. */
const allPagesMs = 60_000;
/** Newer ones of a longer feed are taken. */
export const itemsMax = 5_000;

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
  if (!pieces) throw refuse('The address does not hold the RSS feed of a podcast. Check it.');
  return pieces;
}

function channelOf({ channel: xml }: FeedPieces): ImportedChannel {
  try {
    const channel = readChannel(xml);
    if (channel) return channel;
  } catch (cause) {
    throw refuse('The feed is not valid XML. The present host can say what is wrong with it.', cause);
  }
  throw refuse('The feed does not say anything about a podcast.');
}

/** Where an archive goes on (RFC 5005 §3): the next page of older episodes. */
function nextPageOf(channel: XmlNode, base: string): string | undefined {
  const link = [...channel.children('atom:link'), ...channel.children('a10:link')].find(
    (found) => found.attribute('rel') === 'next',
  );
  return URL.parse(link?.attribute('href') ?? '', base)?.href;
}

/**
 * Fetches and checks a feed that somebody wants to move in, with its pages of older episodes until one of them fails or the
 * time is over. Throws `feed_not_importable` in words, or `feed_locked` when the present host must first be told to let it go.
 * @param time.now milliseconds of a clock
 * @param time.endsAtMs on that clock: when the caller goes on with what came
 */
export async function fetchFeed(
  fetch: GuardedFetch,
  url: string,
  { now, endsAtMs = now() + allPagesMs }: { readonly now: () => number; readonly endsAtMs?: number | undefined },
): Promise<FetchedFeed> {
  const first = await fetchPage(fetch, url, { maxBytes: bytesMax, timeoutMs });
  const pieces = piecesOf(first.text);
  const channel = channelOf(pieces);
  const { title } = channel.settings;
  if (title === undefined) throw refuse('The feed has no title.');
  if (channel.locked)
    throw new Problem(
      'feed_locked',
      `The feed of “${title}” is locked: set podcast:locked to no at the present host, then try again.`,
    );
  const older = await fetchOlderItems(fetch, pieces, first, () => endsAtMs - now());
  const itemCount = pieces.items.length + older.length;
  if (itemCount === 0) throw refuse(`The feed of “${title}” has no episodes.`);
  const end = first.text.lastIndexOf('</channel');
  const whole = older.length > 0 ? first.text.slice(0, end) + older.join('') + first.text.slice(end) : first.text;
  return { bytes: Buffer.from(whole), channel, itemCount };
}

interface Page {
  readonly text: string;
  readonly finalUrl: string;
}

async function fetchOlderItems(
  fetch: GuardedFetch,
  pieces: FeedPieces,
  first: Page,
  msLeft: () => number,
): Promise<string[]> {
  const items: string[] = [];
  const seen = new Set([first.finalUrl]);
  let charactersLeft = bytesMax - first.text.length;
  let next = nextPageOfXml(pieces.channel, first.finalUrl);
  while (next !== undefined && !seen.has(next) && pieces.items.length + items.length < itemsMax) {
    seen.add(next);
    const timeoutMs = Math.min(olderTimeoutMs, msLeft());
    if (timeoutMs < 1 || charactersLeft < 1) break;
    const page = await tryOlderPage(fetch, next, { maxBytes: charactersLeft, timeoutMs });
    // Older episodes may be had another day; the newer ones are what is wanted.
    if (!page) break;
    charactersLeft -= page.sizeCharacters;
    for (const item of page.items) items.push(item);
    next = page.next;
  }
  return items;
}

async function tryOlderPage(fetch: GuardedFetch, url: string, bounds: Bounds) {
  try {
    const { text, finalUrl } = await fetchPage(fetch, url, bounds);
    const { items, channel } = piecesOf(text);
    return { items, next: nextPageOfXml(channel, finalUrl), sizeCharacters: text.length };
  } catch (error) {
    if (error instanceof Problem && error.code === 'feed_not_importable') return undefined;
    throw error;
  }
}

/** Undefined also when the channel is no XML: its items may be. */
function nextPageOfXml(channel: string, base: string): string | undefined {
  try {
    const parsed = parseXml(channel, 'channel');
    return parsed && nextPageOf(parsed, base);
  } catch {
    return undefined;
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
      throw refuse(`The address answers with status ${response.status} instead of a feed. Check it.`);
    const text = decodeXml(await readAll(response), response.headers['content-type']);
    if (text === undefined) throw refuse('The feed is written in an unknown character encoding.');
    return { text, finalUrl: response.finalUrl };
  } catch (error) {
    if (error instanceof Problem && error.code === 'media_not_fetchable') throw refuse(error.message, error);
    throw error;
  }
}
