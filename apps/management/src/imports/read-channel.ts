import { podcasts } from '@longwave/command-catalog';
import { z } from 'zod';
import { boundedText, oneLine } from './feed-text.ts';
import { mapCategory, parseExplicit } from './feed-values.ts';
import { keepValid } from './keep-valid.ts';
import { channelTags } from './podcasting-tags.ts';
import { firstText, parseXml, type XmlNode } from './xml-node.ts';

/** Longer channels are no podcast's. */
const channelCharactersMax = 500_000;

const { shape } = podcasts.attributes;
const settings = z.strictObject({
  title: shape.title,
  description: shape.description,
  language: shape.language,
  author: shape.author,
  owner_name: shape.owner_name,
  owner_email: shape.owner_email,
  artwork_url: shape.artwork_url,
  categories: shape.categories,
  explicit: shape.explicit,
  type: shape.type,
  link: shape.link,
  copyright: shape.copyright,
  podcast_guid: shape.podcast_guid,
  medium: shape.medium,
  funding: shape.funding,
  persons: shape.persons,
  location: shape.location,
  license: shape.license,
  texts: shape.texts,
  update_frequency: shape.update_frequency,
  blocked_platforms: shape.blocked_platforms,
  podroll: shape.podroll,
  publisher: shape.publisher,
  value: shape.value,
  chat: shape.chat,
}).shape;

export interface ImportedChannel {
  /** As far as the feed says; every field is valid in the catalog. */
  readonly settings: ReturnType<typeof keepValid<typeof settings>>;
  /** The present host forbids other hosts to import it (Podcasting 2.0, tag locked). */
  readonly locked: boolean;
}

function categoriesOf(channel: XmlNode): string[] {
  const found = channel.children('itunes:category').flatMap((category) => {
    const parent = category.attribute('text') ?? '';
    const children = category.children('itunes:category').map((child) => child.attribute('text') ?? '');
    return (children.length > 0 ? children : [undefined]).map((child) => mapCategory(parent, child));
  });
  return [...new Set(found.filter((name) => name !== undefined))].slice(0, 3);
}

function languageOf(channel: XmlNode): string | undefined {
  const [language, ...subtags] = (firstText(channel, 'language') ?? '').replaceAll('_', '-').split('-');
  return [language?.toLowerCase(), ...subtags].join('-') || undefined;
}

/** Reads the channel of a feed. Undefined when there is none. */
export function readChannel(xml: string): ImportedChannel | undefined {
  if (xml.length > channelCharactersMax) return undefined;
  const channel = parseXml(xml, 'channel');
  if (!channel) return undefined;
  const owner = channel.children('itunes:owner')[0];
  const owned = (name: string) => oneLine(owner && firstText(owner, name));
  const image = channel.children('image')[0];
  return {
    locked: firstText(channel, 'podcast:locked')?.toLowerCase() === 'yes',
    settings: keepValid(settings, {
      ...channelTags(channel),
      title: oneLine(firstText(channel, 'title', 'itunes:title')),
      description: boundedText(
        firstText(channel, 'description', 'content:encoded', 'itunes:summary', 'itunes:subtitle') ?? '',
      ),
      language: languageOf(channel),
      author: oneLine(firstText(channel, 'itunes:author', 'dc:creator')),
      owner_name: owned('itunes:name'),
      owner_email: owned('itunes:email'),
      artwork_url: channel.children('itunes:image')[0]?.attribute('href')?.trim() ?? (image && firstText(image, 'url')),
      categories: categoriesOf(channel),
      explicit: parseExplicit(firstText(channel, 'itunes:explicit')),
      type: firstText(channel, 'itunes:type')?.toLowerCase(),
      link: firstText(channel, 'link'),
      copyright: oneLine(firstText(channel, 'copyright')),
      podcast_guid: firstText(channel, 'podcast:guid')?.toLowerCase(),
    }),
  };
}
