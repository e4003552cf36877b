import { createHash } from 'node:crypto';
import { episodes, maxNotesBytes } from '@longwave/command-catalog';
import type { TranscriptFormat } from '@longwave/transcript';
import { z } from 'zod';
import { parseExplicit, parseFeedDate, parseOrdinal } from './feed-values.ts';
import { createNotes, quoted, type ImportNote, type ImportNotes } from './import-notes.ts';
import { keepValid } from './keep-valid.ts';
import { isBlocked, itemTags } from './podcasting-tags.ts';
import { noteUnread, readKeywords, readLine, readParsed, readPicture, readTexts } from './read-text.ts';
import { firstText, parseXml, type Namespaces, type ParsedXml, type XmlNode } from './xml-node.ts';

/** No episode has a longer item. Pictures inside the notes (data: addresses) make some long; these are removed. */
const maxItemCharacters = 2_000_000;

const { shape } = episodes.attributes;
const settings = z.strictObject({
  description: shape.description,
  summary: shape.summary,
  subtitle: shape.subtitle,
  author: shape.author,
  keywords: shape.keywords,
  season: shape.season,
  number: shape.number,
  type: shape.type,
  explicit: shape.explicit,
  artwork_url: shape.artwork_url,
  link: shape.link,
  persons: shape.persons,
  location: shape.location,
  license: shape.license,
  soundbites: shape.soundbites,
  social_interact: shape.social_interact,
  value: shape.value,
  alternate_enclosures: shape.alternate_enclosures,
  blocked: shape.blocked,
}).shape;

interface ImportedTranscript {
  readonly url: string;
  readonly format: TranscriptFormat;
  readonly language?: string;
  readonly captions?: boolean;
}

interface ImportedItem {
  readonly guid: string;
  readonly title: string;
  readonly settings: ReturnType<typeof keepValid<typeof settings>>;
  readonly publishedAt?: Date;
  readonly enclosureUrl?: string;
  /** Size of the file as the feed states it. */
  readonly enclosureBytes?: number;
  readonly chaptersUrl?: string;
  readonly transcripts: readonly ImportedTranscript[];
}

/** An item that can be imported, with notes on what differs from the feed. */
export interface ReadableItem {
  readonly item: ImportedItem;
  readonly notes: ImportNotes;
}

/** An item that can be imported, or the reason for which it cannot. */
type ReadItem =
  ReadableItem | { readonly item: undefined; readonly problem: string; readonly notes: readonly ImportNote[] };

/** Elements that our feed makes itself. */
const remade = new Set([
  'enclosure',
  'itunes:duration',
  'dc:date',
  'atom:published',
  'atom:link',
  'atom:id',
  'atom:updated',
]);

const transcriptFormats: Readonly<Record<string, TranscriptFormat>> = {
  'text/vtt': 'vtt',
  'application/vtt': 'vtt',
  'text/srt': 'srt',
  'application/srt': 'srt',
  'application/x-subrip': 'srt',
  'application/json': 'json',
};

const webAddress = (text: string | undefined): string | undefined => {
  const address = text?.trim() ?? '';
  return /^https?:\/\/[^\t\r\n]*$/i.test(address) && address.length <= 2000 && URL.canParse(address)
    ? address
    : undefined;
};

const mediaType = (text: string | undefined) => (text ?? '').split(';')[0]!.trim().toLowerCase();

/** Files that are fetched for one episode: 20 languages in several formats. More would make the import a tool for attacking another host. */
const maxTranscripts = 60;

function transcriptsOf(item: XmlNode, notes: ImportNotes): ImportedTranscript[] {
  const tags = item.children('podcast:transcript');
  if (tags.length > maxTranscripts)
    notes.lost('transcripts', `Only the first ${maxTranscripts} of ${tags.length} are looked at.`);
  return tags.slice(0, maxTranscripts).flatMap((tag) => {
    const url = webAddress(tag.attribute('url'));
    const type = mediaType(tag.attribute('type'));
    const format = Object.hasOwn(transcriptFormats, type) ? transcriptFormats[type] : undefined;
    if (url === undefined || format === undefined) {
      notes.lost(
        'transcripts',
        `Only VTT, SRT and JSON can be imported. The feed says ${type === '' ? 'no type' : quoted(type)}.`,
      );
      return [];
    }
    const language = tag.attribute('language')?.trim().replaceAll('_', '-');
    const captions = tag.attribute('rel')?.trim().toLowerCase() === 'captions';
    return [{ url, format, ...(language && { language }), ...(captions && { captions }) }];
  });
}

const isAudible = (tag: XmlNode) =>
  /^(?:audio|video)\//.test(mediaType(tag.attribute('type'))) ||
  /^(?:audio|video)$/.test(tag.attribute('medium') ?? '');

/** The size that an enclosure or a media:content states, up to a TB; undefined where it states none. */
function statedBytes(tag: XmlNode | undefined): number | undefined {
  const text = tag?.attribute('length') ?? tag?.attribute('fileSize') ?? '';
  return /^[1-9]\d{0,11}$/.test(text) ? Number(text) : undefined;
}

/** The address of the audio, else of any file: the first enclosure that holds one, else a media:content. */
function enclosureOf(
  item: XmlNode,
  notes: ImportNotes,
): { readonly enclosureUrl: string | undefined; readonly enclosureBytes: number | undefined } {
  const enclosures = item.children('enclosure');
  const media = [item, ...item.children('media:group')].flatMap((holder) => [...holder.children('media:content')]);
  const candidates = [...enclosures.filter(isAudible), ...enclosures, ...media.filter(isAudible)];
  const urls = [...new Set(candidates.flatMap((tag) => webAddress(tag.attribute('url')) ?? []))];
  if (enclosures.length > 1)
    notes.lost('enclosure', `The item names ${enclosures.length} files. Only one is imported.`);
  if (enclosures.length === 0 && urls.length > 0)
    notes.changed('enclosure', 'The item has no enclosure. The file of its media:content is used instead.');
  const [enclosureUrl] = urls;
  const tag = candidates.find((candidate) => webAddress(candidate.attribute('url')) === enclosureUrl);
  return { enclosureUrl, enclosureBytes: enclosureUrl === undefined ? undefined : statedBytes(tag) };
}

/** The guid of the episode, or the element that apps use instead. */
function guidOf(item: XmlNode, enclosureUrl: string | undefined, title: string | undefined, notes: ImportNotes) {
  const own = firstText(item, 'guid', 'atom:id');
  const identifier = own ?? enclosureUrl ?? firstText(item, 'link') ?? title;
  if (identifier === undefined) return undefined;
  if (own === undefined)
    notes.changed('guid', `The item has no guid. Podcast apps and this import use ${quoted(identifier)} instead.`);
  const guid = identifier.replace(/\s+/g, ' ');
  if (guid.length <= 255) return guid;
  notes.changed('guid', 'It is longer than 255 characters. Its SHA-256 digest is used instead.');
  return createHash('sha256').update(guid).digest('hex');
}

function dateOf(item: XmlNode, notes: ImportNotes): Date | undefined {
  const text = firstText(item, 'pubDate', 'dc:date', 'atom:published');
  const date = parseFeedDate(text);
  if (!date)
    notes.changed(
      'published_at',
      text === undefined
        ? 'The item has no date. The date of the import is used.'
        : `${quoted(text)} is not a date. The date of the import is used.`,
    );
  return date;
}

function chaptersOf(item: XmlNode, notes: ImportNotes): string | undefined {
  const tags = item.children('podcast:chapters');
  const chapters = tags.find((tag) => /json/.test(mediaType(tag.attribute('type')) || 'json'));
  const url = webAddress(chapters?.attribute('url'));
  if (tags.length > 0 && url === undefined)
    notes.lost('chapters', 'Only chapters in JSON at a web address can be imported.');
  return url;
}

function readFields(item: XmlNode, notes: ImportNotes): ImportedItem | undefined {
  const { enclosureUrl, enclosureBytes } = enclosureOf(item, notes);
  const title = readLine(item, 'title', ['title', 'itunes:title'], notes);
  const guid = guidOf(item, enclosureUrl, title, notes);
  if (guid === undefined) return undefined;
  if (title === undefined) notes.changed('title', 'The item has no title. Its guid is used instead.');
  const publishedAt = dateOf(item, notes);
  const chaptersUrl = chaptersOf(item, notes);
  const order = ['content:encoded', 'description', 'itunes:summary', 'googleplay:description', 'media:description'];
  const fields = {
    ...itemTags(item, notes),
    ...readTexts(item, order, maxNotesBytes, notes),
    ...(isBlocked(item) && { blocked: true }),
    author: readLine(item, 'author', ['itunes:author', 'dc:creator', 'author'], notes),
    keywords: readKeywords(item),
    season: readParsed(item, 'season', ['itunes:season', 'podcast:season'], parseOrdinal, notes),
    number: readParsed(item, 'number', ['itunes:episode', 'podcast:episode'], parseOrdinal, notes),
    type: firstText(item, 'itunes:episodeType')?.toLowerCase(),
    explicit: readParsed(item, 'explicit', ['itunes:explicit', 'googleplay:explicit'], parseExplicit, notes),
    artwork_url: readPicture(item),
    link: firstText(item, 'link'),
  };
  const transcripts = transcriptsOf(item, notes);
  noteUnread(item, remade, notes);
  return {
    guid,
    title: title ?? guid.slice(0, 255),
    settings: keepValid(settings, fields, notes),
    ...(publishedAt && { publishedAt }),
    ...(enclosureUrl !== undefined && { enclosureUrl }),
    ...(enclosureBytes !== undefined && { enclosureBytes }),
    ...(chaptersUrl !== undefined && { chaptersUrl }),
    transcripts,
  };
}

function tryParse(xml: string, namespaces: Namespaces): ParsedXml | Error | undefined {
  try {
    return parseXml(xml, undefined, namespaces);
  } catch (error) {
    return error as Error;
  }
}

/** Reads one item of a feed that declares these namespaces. */
export function readItem(xml: string, namespaces: Namespaces = {}): ReadItem {
  const unreadable = (problem: string): ReadItem => ({ item: undefined, problem, notes: [] });
  if (xml.length > maxItemCharacters) return unreadable(`The item is longer than ${maxItemCharacters} characters.`);
  const parsed = tryParse(xml, namespaces);
  if (parsed instanceof Error) return unreadable(`The item cannot be read as XML: ${parsed.message}.`);
  if (!parsed) return unreadable('The item is empty.');
  const notes = createNotes();
  if (parsed.fault !== undefined)
    notes.changed('xml', `The item is not well-formed XML. It was read as far as possible: ${parsed.fault}`);
  const item = readFields(parsed.node, notes);
  return item ? { item, notes } : unreadable('The item has neither guid, file, link nor title.');
}
