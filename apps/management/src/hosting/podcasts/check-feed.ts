import { isIP } from 'node:net';
import { appleCategories } from '@longwave/command-catalog';
import { isPublicAddress } from '@longwave/guarded-fetch';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describeAnswer, type PublicFetch } from '../../outside/public-fetch.ts';
import { checkArtwork, type Finding } from './check-artwork.ts';

type Node = Readonly<Record<string, unknown>>;

/** Bytes of a feed that directories read. */
const maxFeedBytes = 20_000_000;
/** Enclosures that are requested, the newest first. */
const maxEnclosures = 3;

const namespaces: readonly (readonly [prefix: string, uri: string, needed: boolean])[] = [
  ['itunes', 'http://www.itunes.com/dtds/podcast-1.0.dtd', true],
  ['content', 'http://purl.org/rss/1.0/modules/content/', true],
  ['atom', 'http://www.w3.org/2005/Atom', true],
  ['podcast', 'https://podcastindex.org/namespace/1.0', false],
];
/** Channel elements: PSP-1 requires, Apple requires, PSP-1 recommends. */
const channelNeeds = ['title', 'description', 'link', 'language', 'itunes:author'];
const channelWishes = ['podcast:guid', 'podcast:locked', 'itunes:owner', 'itunes:type'];
const mediaExtension = /\.(?:mp3|m4a|mp4|m4v|mov|pdf|epub|aac|ogg|opus|flac|wav)$/i;
/** RFC 2822 §3.3, with the obsolete zones that feeds use. */
const rfc2822 =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}(?::\d{2})? (?:[+-]\d{4}|UT|GMT|[ECMP][SD]T)$/;

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (name) => ['item', 'itunes:category', 'atom:link'].includes(name),
});

const list = (value: unknown): Node[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]) as Node[];
const attribute = (value: unknown, name: string): string | undefined => {
  const found = typeof value === 'object' && value !== null ? (value as Node)[`@${name}`] : undefined;
  return typeof found === 'string' ? found : undefined;
};
const textOf = (value: unknown): string => {
  const text = typeof value === 'object' && value !== null ? (value as Node)['#text'] : value;
  return typeof text === 'string' ? text.trim() : '';
};

class Findings {
  readonly list: Finding[] = [];
  error = (code: string, text: string) => void this.list.push({ severity: 'error', code, text });
  warn = (code: string, text: string) => void this.list.push({ severity: 'warning', code, text });
}

function checkChannel(channel: Node, feedUrl: string, found: Findings): void {
  for (const name of channelNeeds)
    if (!textOf(channel[name])) found.error('channel_element_missing', `The channel has no <${name}>.`);
  for (const name of channelWishes)
    if (channel[name] === undefined) found.warn('channel_element_missing', `The channel has no <${name}>.`);
  if (Buffer.byteLength(textOf(channel['description'])) > 4000)
    found.error('description_too_long', 'The description of the channel has more than 4000 bytes.');
  if (!/^(?:true|false)$/.test(textOf(channel['itunes:explicit'])))
    found.error('explicit_missing', 'The channel says neither true nor false in <itunes:explicit>.');

  const self = list(channel['atom:link']).find((link) => attribute(link, 'rel') === 'self');
  const href = attribute(self, 'href');
  if (href === undefined) found.error('self_link_missing', 'The channel has no <atom:link rel="self">.');
  else if (href !== feedUrl) found.warn('self_link_differs', `The channel names ${href} as its own address.`);

  const categories = list(channel['itunes:category']);
  if (categories.length === 0) found.error('category_missing', 'The channel has no <itunes:category>.');
  for (const category of categories) {
    const parent = attribute(category, 'text') ?? '';
    const names = list(category['itunes:category']).map((child) => `${parent} > ${attribute(child, 'text') ?? ''}`);
    for (const name of names.length > 0 ? names : [parent])
      if (!(appleCategories as readonly string[]).includes(name))
        found.error('category_unknown', `“${name}” is not a category of Apple Podcasts.`);
  }
}

/** Whether an address can be reached only on this machine or in its network. */
function isLocal(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return !host.includes('.') || /\.(?:localhost|local|internal|test|invalid)$/.test(host);
}

/** Every address that the feed gives to apps: its own, its pages, its pictures and its files. */
function addressesIn(feedUrl: string, channel: Node, items: readonly Node[]): string[] {
  const files = (item: Node) =>
    ['enclosure', 'podcast:chapters', 'podcast:transcript'].flatMap((name) =>
      list(item[name]).map((tag) => attribute(tag, 'url')),
    );
  const page = (node: Node) => [textOf(node['link']), attribute(node['itunes:image'], 'href')];
  const all = [feedUrl, ...page(channel), ...items.flatMap((item) => [...page(item), ...files(item)])];
  return all.flatMap((address) => address || []);
}

function checkAddresses(feedUrl: string, channel: Node, items: readonly Node[], found: Findings): void {
  const urls = [...new Set(addressesIn(feedUrl, channel, items))].flatMap((address) => URL.parse(address) ?? []);
  const local = urls.filter(isLocal);
  if (local.length > 0)
    found.warn(
      'address_local',
      `${local.length === 1 ? '1 address' : `${local.length} addresses`} in the feed can be reached only on this machine or in its network, such as ${local[0]!.href}: listeners and directories cannot.`,
    );
  const plain = urls.filter((url) => url.protocol === 'http:' && !isLocal(url));
  if (plain.length > 0)
    found.warn(
      'address_not_https',
      plain.length === 1
        ? `1 address in the feed begins with http instead of https, such as ${plain[0]!.href}: some apps refuse it.`
        : `${plain.length} addresses in the feed begin with http instead of https, such as ${plain[0]!.href}: some apps refuse them.`,
    );
  const samePlace = (a: URL | null, b: URL | null) =>
    a !== null && b !== null && a.host + a.pathname === b.host + b.pathname;
  if (samePlace(URL.parse(textOf(channel['link'])), URL.parse(feedUrl)))
    found.warn('link_is_feed', 'The <link> of the channel is the feed itself: name the page of the podcast.');
}

interface Enclosure {
  readonly url: string;
  readonly type: string;
}

function checkItem(item: Node, index: number, found: Findings): { guid: string; enclosure: Enclosure | undefined } {
  const title = textOf(item['title']);
  const name = title ? `“${title}”` : `Item ${index + 1}`;
  if (!title) found.error('item_title_missing', `${name} has no <title>.`);
  const guid = textOf(item['guid']);
  if (!guid) found.error('item_guid_missing', `${name} has no <guid>.`);
  const date = textOf(item['pubDate']);
  if (!date) found.warn('item_date_missing', `${name} has no <pubDate>.`);
  else if (!rfc2822.test(date) || Number.isNaN(Date.parse(date)))
    found.error('item_date_malformed', `The date of ${name} is not in the form of RFC 2822: “${date}”.`);
  if (Buffer.byteLength(textOf(item['description'])) > 4000)
    found.error('description_too_long', `The description of ${name} has more than 4000 bytes.`);
  if (!['description', 'content:encoded', 'itunes:summary'].some((element) => textOf(item[element])))
    found.warn('item_description_missing', `${name} has no description.`);
  if (item['itunes:duration'] === undefined) found.warn('item_duration_missing', `${name} has no <itunes:duration>.`);

  const url = attribute(item['enclosure'], 'url');
  if (url === undefined || !URL.canParse(url)) {
    found.error('enclosure_missing', `${name} has no <enclosure> with an address.`);
    return { guid, enclosure: undefined };
  }
  if (!/^\d+$/.test(attribute(item['enclosure'], 'length') ?? ''))
    found.error('enclosure_length', `The enclosure of ${name} has no length in bytes.`);
  const type = attribute(item['enclosure'], 'type') ?? '';
  if (!/^(?:audio|video)\//.test(type)) found.error('enclosure_type', `The enclosure of ${name} has no media type.`);
  if (!/^[!-~]+$/.test(url)) found.error('enclosure_not_ascii', `The enclosure address of ${name} is not in ASCII.`);
  if (!mediaExtension.test(new URL(url).pathname))
    found.error('enclosure_extension', `The enclosure address of ${name} does not end in a media extension.`);
  return { guid, enclosure: { url, type } };
}

function checkDistinct(values: readonly string[], code: string, what: string, found: Findings): void {
  const seen = new Set<string>();
  for (const value of values)
    if (value && seen.has(value)) found.error(code, `Two items have the ${what} ${value}.`);
    else seen.add(value);
}

/** The enclosures of a channel's items, newest first as the feed lists them. */
function checkItems(items: readonly Node[], found: Findings): Enclosure[] {
  if (items.length === 0) found.warn('no_episodes', 'The feed has no episode; directories list it once it has one.');
  const checked = items.map((item, index) => checkItem(item, index, found));
  const enclosures = checked.flatMap(({ enclosure }) => enclosure ?? []);
  checkDistinct(checked.map(({ guid }) => guid), 'guid_not_unique', 'GUID', found); // prettier-ignore
  checkDistinct(enclosures.map(({ url }) => url), 'enclosure_not_unique', 'enclosure', found); // prettier-ignore
  return enclosures;
}

async function checkEnclosure(publicFetch: PublicFetch, { url, type }: Enclosure, found: Findings): Promise<void> {
  const head = await publicFetch(url, { method: 'HEAD' });
  if (head.status !== 200)
    found.error('enclosure_head', `${url} answers HEAD with ${describeAnswer(head)}; directories need 200.`);
  else {
    if (!(Number(head.header('content-length')) > 0))
      found.error('enclosure_no_length', `${url} has no Content-Length in its answer to HEAD.`);
    const stated = (head.header('content-type') ?? '').split(';')[0]!.trim();
    if (stated !== type)
      found.warn('enclosure_type_differs', `${url} is ${stated || 'of no type'}, the feed says ${type}.`);
  }
  const part = await publicFetch(url, { range: { start: 0, end: 1023 }, maxBytes: 1024 });
  if (part.status !== 206)
    found.error('enclosure_range', `${url} answers a byte range with ${describeAnswer(part)}; directories need 206.`);
  else if (!/^bytes 0-\d+\/\d+$/.test(part.header('content-range') ?? ''))
    found.error('enclosure_content_range', `${url} does not say in Content-Range which bytes it sent.`);
}

async function checkConditional(
  publicFetch: PublicFetch,
  feedUrl: string,
  etag: string | undefined,
  found: Findings,
): Promise<void> {
  if (etag === undefined) {
    found.warn('feed_etag', 'The feed has no ETag: apps fetch it whole every time.');
    return;
  }
  const again = await publicFetch(feedUrl, { headers: { 'if-none-match': etag }, maxBytes: maxFeedBytes });
  if (again.status !== 304)
    found.error('feed_not_modified', `The feed answers its own ETag with ${describeAnswer(again)} instead of 304.`);
}

/**
 * Fetches any public feed, its artwork and its newest enclosures and checks them by the rules of Apple and PSP-1. A feed that cannot be
 * fetched is a finding, not an error.
 */
export async function checkFeed(feedUrl: string, publicFetch: PublicFetch): Promise<Finding[]> {
  const found = new Findings();
  const answer = await publicFetch(feedUrl, { maxBytes: maxFeedBytes });
  if (answer.status !== 200) {
    found.error(
      'feed_not_found',
      answer.status === 0
        ? `The feed cannot be fetched. ${answer.reason ?? 'Its address does not answer.'}`
        : `The feed answers with ${describeAnswer(answer)}.`,
    );
    return found.list;
  }
  const type = answer.header('content-type') ?? '';
  if (!/xml/i.test(type)) found.warn('feed_type', `The feed is sent as ${type || 'nothing'}, not as XML.`);
  const head = await publicFetch(feedUrl, { method: 'HEAD' });
  if (head.status !== 200)
    found.error('feed_head', `The feed answers HEAD with ${describeAnswer(head)}; directories need 200.`);
  await checkConditional(publicFetch, feedUrl, answer.header('etag'), found);

  const xml = answer.body.toString('utf8');
  const valid = XMLValidator.validate(xml);
  if (valid !== true) {
    found.error('feed_not_well_formed', `The feed is not well-formed XML: line ${valid.err.line}, ${valid.err.msg}`);
    return found.list;
  }
  if (!/^\ufeff?<\?xml /.test(xml)) found.error('xml_declaration_missing', 'The feed has no XML declaration.');
  const rss = (parser.parse(xml) as Node)['rss'];
  const channel = (rss as Node | undefined)?.['channel'] as Node | undefined;
  if (attribute(rss, 'version') !== '2.0' || typeof channel !== 'object') {
    found.error('not_rss', 'The feed is not RSS 2.0 with a channel.');
    return found.list;
  }
  for (const [prefix, uri, needed] of namespaces)
    if (attribute(rss, `xmlns:${prefix}`) !== uri)
      (needed ? found.error : found.warn)('namespace_missing', `The feed does not declare the namespace ${uri}.`);

  checkChannel(channel, feedUrl, found);
  const items = list(channel['item']);
  checkAddresses(feedUrl, channel, items, found);
  const enclosures = checkItems(items, found);
  const artwork = attribute(channel['itunes:image'], 'href');
  if (artwork === undefined || !URL.canParse(artwork))
    found.error('artwork_missing', 'The channel has no <itunes:image> with an address.');
  else found.list.push(...(await checkArtwork(publicFetch, artwork)));
  for (const enclosure of enclosures.slice(0, maxEnclosures)) await checkEnclosure(publicFetch, enclosure, found);
  return found.list;
}
