import { maxDescriptionBytes, podcasts } from '@longwave/command-catalog';
import { z } from 'zod';
import { mapCategory, parseExplicit } from './feed-values.ts';
import { createNotes, quoted, type ImportNotes } from './import-notes.ts';
import { keepValid } from './keep-valid.ts';
import { channelTags, isBlocked, namespaceBlocks } from './podcasting-tags.ts';
import { noteUnread, readKeywords, readLine, readParsed, readPicture, readTexts } from './read-text.ts';
import { firstText, type XmlNode } from './xml-node.ts';

const { shape } = podcasts.attributes;
const settings = z.strictObject({
  title: shape.title,
  description: shape.description,
  summary: shape.summary,
  subtitle: shape.subtitle,
  keywords: shape.keywords,
  language: shape.language,
  author: shape.author,
  owner_name: shape.owner_name,
  owner_email: shape.owner_email,
  managing_editor: shape.managing_editor,
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
  trailers: shape.trailers,
}).shape;

export interface ImportedChannel {
  /** The fields that the feed has; each is valid in the catalog. */
  readonly settings: ReturnType<typeof keepValid<typeof settings>>;
  /** The present host forbids other hosts to import it (Podcasting 2.0, tag locked). */
  readonly locked: boolean;
  /** The feed asks directories to hide the whole podcast. */
  readonly blocked: boolean;
  readonly notes: ImportNotes;
}

/** Elements that our feed makes itself, or that were true only of the previous host. */
const remade = new Set([
  ...['atom:link', 'atom:id', 'atom:updated', 'generator', 'lastBuildDate', 'pubDate', 'ttl', 'docs', 'cloud', 'item'],
  ...['itunes:new-feed-url', 'dc:date', 'itunes:complete', 'podcast:podping'],
]);
const maxCategories = 3;

const tidy = (text: string) => text.trim().replace(/\s+/g, ' ');

/** Apple's present categories. Former and foreign names become the closest one, with a note. */
function categoriesOf(channel: XmlNode, notes: ImportNotes): string[] {
  const elements = ['itunes:category', 'googleplay:category'].flatMap((name) => [...channel.children(name)]);
  const categories = elements.flatMap((category) => {
    const parent = tidy(category.attribute('text') ?? category.text);
    const children = category.children('itunes:category').map((child) => tidy(child.attribute('text') ?? ''));
    return (children.length > 0 ? children : [undefined]).map((child) => ({ parent, child }));
  });
  if (categories.length === 0)
    categories.push(
      ...channel.children('category').map((category) => ({ parent: tidy(category.text), child: undefined })),
    );
  const found = new Set<string>();
  for (const { parent, child } of categories) {
    const name = child === undefined ? parent : `${parent} > ${child}`;
    const mapped = mapCategory(parent, child);
    if (mapped === undefined) notes.lost('categories', `${quoted(name)} is not a category of Apple Podcasts.`);
    else if (mapped.toLowerCase() !== name.toLowerCase())
      notes.changed('categories', `${quoted(name)} is now called “${mapped}”.`);
    if (mapped !== undefined) found.add(mapped);
  }
  if (found.size > maxCategories)
    notes.lost('categories', `Only the first ${maxCategories} of ${found.size} are kept.`);
  return [...found].slice(0, maxCategories);
}

function languageOf(channel: XmlNode): string | undefined {
  const text = firstText(channel, 'language', 'dc:language') ?? '';
  const [language, ...subtags] = text.replaceAll('_', '-').split('-');
  return [language?.toLowerCase(), ...subtags].join('-') || undefined;
}

/** Whether the podcast is complete (Apple's itunes:complete). */
const isComplete = (channel: XmlNode) => /^(?:yes|true)$/i.test(firstText(channel, 'itunes:complete') ?? '');

/** Reads the channel of a feed. */
export function readChannel(channel: XmlNode, fault?: string): ImportedChannel {
  const notes = createNotes();
  if (fault !== undefined)
    notes.changed('xml', `The channel is not well-formed XML. It was read as far as possible: ${fault}`);
  const owner = channel.children('itunes:owner')[0];
  const owned = (field: string, name: string) => owner && readLine(owner, field, [name], notes);
  const blocks = namespaceBlocks(channel);
  const blocked = isBlocked(channel);
  const tags = channelTags(channel, notes);
  const order = ['description', 'content:encoded', 'itunes:summary', 'googleplay:description'];
  const fields = {
    ...tags,
    ...readTexts(channel, order, maxDescriptionBytes, notes),
    ...(isComplete(channel) &&
      tags['update_frequency'] === undefined && { update_frequency: { text: 'Complete', complete: true } }),
    blocked_platforms: [...new Set([...blocks, ...(blocked ? ['apple'] : [])])],
    title: readLine(channel, 'title', ['title', 'itunes:title'], notes),
    keywords: readKeywords(channel),
    language: languageOf(channel),
    author: readLine(channel, 'author', ['itunes:author', 'googleplay:author', 'dc:creator'], notes),
    owner_name: owned('owner_name', 'itunes:name'),
    owner_email: owned('owner_email', 'itunes:email') ?? firstText(channel, 'googleplay:email'),
    managing_editor: readLine(channel, 'managing_editor', ['managingEditor'], notes),
    artwork_url: readPicture(channel),
    categories: categoriesOf(channel, notes),
    explicit: readParsed(channel, 'explicit', ['itunes:explicit', 'googleplay:explicit'], parseExplicit, notes),
    type: firstText(channel, 'itunes:type')?.toLowerCase(),
    link: firstText(channel, 'link'),
    copyright: readLine(channel, 'copyright', ['copyright', 'dc:rights'], notes),
    podcast_guid: firstText(channel, 'podcast:guid')?.toLowerCase(),
  };
  const locked = firstText(channel, 'podcast:locked')?.toLowerCase() === 'yes';
  noteUnread(channel, remade, notes);
  return { locked, blocked: blocked || blocks.includes('all'), settings: keepValid(settings, fields, notes), notes };
}
