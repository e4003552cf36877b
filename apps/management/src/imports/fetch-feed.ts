import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { cutFeed, type FeedPieces } from './cut-feed.ts';
import { decodeXml } from './feed-text.ts';
import { readChannel, type ImportedChannel } from './read-channel.ts';
import { parseXml, type XmlNode } from './xml-node.ts';

const bytesMax = 50_000_000;
const timeoutMs = 15_000;
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
 * Fetches and checks a feed that somebody wants to move in, with all its pages. Throws `feed_not_importable` in words, or
 * `feed_locked` when the present host must first be told to let it go.
 */
export async function fetchFeed(fetch: GuardedFetch, url: string, now: () => number): Promise<FetchedFeed> {
  const endsAt = now() + timeoutMs;
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
  const older = await fetchOlderItems(fetch, pieces, first, endsAt, now);
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
  endsAt: number,
  now: () => number,
): Promise<string[]> {
  const items: string[] = [];
  const seen = new Set([first.finalUrl]);
  let charactersLeft = bytesMax - first.text.length;
  let next = nextPageOf(parseXml(pieces.channel, 'channel')!, first.finalUrl);
  while (next !== undefined && !seen.has(next) && pieces.items.length + items.length < itemsMax) {
    seen.add(next);
    const page = await fetchPage(fetch, next, {
      maxBytes: Math.max(1, charactersLeft),
      timeoutMs: Math.max(1, endsAt - now()),
    });
    charactersLeft -= page.text.length;
    const cut = piecesOf(page.text);
    items.push(...cut.items);
    next = nextPageOf(parseXml(cut.channel, 'channel')!, page.finalUrl);
  }
  return items;
}

async function fetchPage(
  fetch: GuardedFetch,
  url: string,
  bounds: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<Page> {
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
