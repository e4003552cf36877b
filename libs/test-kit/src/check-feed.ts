/** Elements that directories demand of a feed (PSP-1 required; Apple, podcasters.apple.com 823), as text that must occur. */
const required: readonly (readonly [string, RegExp])[] = [
  ['atom:link rel="self"', /<atom:link[^>]*rel="self"/],
  ['title', /<channel>[\s\S]*?<title>[^<]+<\/title>/],
  ['description', /<description>[\s\S]+?<\/description>/],
  ['link', /<link>https?:[^<]+<\/link>/],
  ['language', /<language>[^<]+<\/language>/],
  ['itunes:category', /<itunes:category text="[^"]+"/],
  ['itunes:explicit', /<itunes:explicit>(true|false)<\/itunes:explicit>/],
  ['itunes:image', /<itunes:image href="https?:[^"]+"/],
  ['podcast:guid', /<podcast:guid>[0-9a-f-]{36}<\/podcast:guid>/],
  ['item guid', /<guid[^>]*>[^<]+<\/guid>/],
  ['item pubDate', /<pubDate>[^<]+<\/pubDate>/],
];

export interface FeedItem {
  readonly enclosureUrl: string;
  readonly length: number;
  readonly etag: string;
}

/** Reads the feed, checks what directories demand, the 304 and the enclosure; throws a sentence when something lacks. */
export async function checkFeed(feedUrl: string): Promise<FeedItem | undefined> {
  const response = await fetch(feedUrl);
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`the feed answered ${response.status}`);
  const etag = response.headers.get('etag') ?? '';
  const xml = await response.text();
  const enclosure = /<enclosure\b[^>]*>/.exec(xml)?.[0];
  if (!enclosure) return undefined;
  const missing = required.filter(([, pattern]) => !pattern.test(xml)).map(([name]) => name);
  if (missing.length > 0) throw new Error(`the feed lacks ${missing.join(', ')}`);
  if (!/^"[^"]+"$/.test(etag)) throw new Error('the feed has no strong ETag');
  const again = await fetch(feedUrl, { headers: { 'if-none-match': etag } });
  // It has changed since, and is another feed.
  if (again.ok && again.headers.get('etag') !== etag) return checkFeed(feedUrl);
  if (again.status !== 304) throw new Error(`If-None-Match answered ${again.status} instead of 304`);
  const url = /url="([^"]+)"/.exec(enclosure)?.[1]?.replaceAll('&amp;', '&');
  const length = Number(/length="(\d+)"/.exec(enclosure)?.[1]);
  if (!url || !/type="audio\/mpeg"/.test(enclosure) || !(length > 0)) throw new Error('the enclosure is not complete');
  return { enclosureUrl: url, length, etag };
}
