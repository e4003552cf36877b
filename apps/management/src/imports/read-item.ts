import { createHash } from 'node:crypto';
import { episodes } from '@longwave/command-catalog';
import type { TranscriptFormat } from '@longwave/transcript';
import { z } from 'zod';
import { boundedText, oneLine } from './feed-text.ts';
import { parseExplicit, parseFeedDate, parseOrdinal } from './feed-values.ts';
import { keepValid } from './keep-valid.ts';
import { itemTags } from './podcasting-tags.ts';
import { firstText, parseXml, type XmlNode } from './xml-node.ts';

/** Longer items are no episode's. */
const itemCharactersMax = 300_000;

const { shape } = episodes.attributes;
const settings = z.strictObject({
  description: shape.description,
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
}).shape;

export interface ImportedTranscript {
  readonly url: string;
  readonly format: TranscriptFormat;
  readonly language?: string;
  readonly captions?: boolean;
}

export interface ImportedItem {
  readonly guid: string;
  readonly title: string;
  readonly settings: ReturnType<typeof keepValid<typeof settings>>;
  readonly publishedAt?: Date;
  readonly enclosureUrl?: string;
  readonly chaptersUrl?: string;
  readonly transcripts: readonly ImportedTranscript[];
}

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
  return /^https?:\/\//i.test(address) && address.length <= 2000 && URL.canParse(address) ? address : undefined;
};

const mediaType = (text: string | undefined) => (text ?? '').split(';')[0]!.trim().toLowerCase();

function transcriptsOf(item: XmlNode): ImportedTranscript[] {
  return item.children('podcast:transcript').flatMap((tag) => {
    const url = webAddress(tag.attribute('url'));
    const type = mediaType(tag.attribute('type'));
    const format = Object.hasOwn(transcriptFormats, type) ? transcriptFormats[type] : undefined;
    if (url === undefined || format === undefined) return [];
    const language = tag.attribute('language')?.trim().replaceAll('_', '-');
    const captions = tag.attribute('rel')?.trim().toLowerCase() === 'captions';
    return [{ url, format, ...(language && { language }), ...(captions && { captions }) }];
  });
}

/** The address of the audio, else of any file: the first enclosure that holds one. */
function enclosureOf(item: XmlNode): string | undefined {
  const all = item.children('enclosure');
  const audible = all.filter((enclosure) => /^(audio|video)\//.test(mediaType(enclosure.attribute('type'))));
  return [...audible, ...all]
    .map((enclosure) => webAddress(enclosure.attribute('url')))
    .find((url) => url !== undefined);
}

/** What identifies the episode for apps: its guid, else what they take instead. */
function guidOf(item: XmlNode, enclosureUrl: string | undefined, title: string | undefined): string | undefined {
  const given = firstText(item, 'guid') ?? enclosureUrl ?? firstText(item, 'link') ?? title;
  if (given === undefined) return undefined;
  const guid = given.replace(/\s+/g, ' ');
  return guid.length <= 255 ? guid : createHash('sha256').update(guid).digest('hex');
}

function descriptionOf(item: XmlNode): string {
  const full = firstText(item, 'content:encoded');
  const short = firstText(item, 'description', 'itunes:summary', 'itunes:subtitle');
  // The short one whole is better than the full one cut.
  const fits = full !== undefined && Buffer.byteLength(full) <= 4000;
  return boundedText((fits ? full : (short ?? full)) ?? '');
}

/** Reads one item; undefined when it names nothing that could be an episode. Throws when it is no XML. */
export function readItem(xml: string): ImportedItem | undefined {
  if (xml.length > itemCharactersMax) return undefined;
  const item = parseXml(xml, 'item');
  if (!item) return undefined;
  const enclosureUrl = enclosureOf(item);
  const title = oneLine(firstText(item, 'title', 'itunes:title'));
  const guid = guidOf(item, enclosureUrl, title);
  if (guid === undefined) return undefined;
  const publishedAt = parseFeedDate(firstText(item, 'pubDate', 'dc:date', 'atom:published'));
  const chapters = item
    .children('podcast:chapters')
    .find((tag) => /json/.test(mediaType(tag.attribute('type')) || 'json'));
  const chaptersUrl = webAddress(chapters?.attribute('url'));
  return {
    guid,
    title: title ?? oneLine(guid)!,
    settings: keepValid(settings, {
      ...itemTags(item),
      description: descriptionOf(item),
      season: parseOrdinal(firstText(item, 'itunes:season', 'podcast:season')),
      number: parseOrdinal(firstText(item, 'itunes:episode', 'podcast:episode')),
      type: firstText(item, 'itunes:episodeType')?.toLowerCase(),
      explicit: parseExplicit(firstText(item, 'itunes:explicit')),
      artwork_url: item.children('itunes:image')[0]?.attribute('href')?.trim(),
      link: firstText(item, 'link'),
    }),
    ...(publishedAt && { publishedAt }),
    ...(enclosureUrl !== undefined && { enclosureUrl }),
    ...(chaptersUrl !== undefined && { chaptersUrl }),
    transcripts: transcriptsOf(item),
  };
}
