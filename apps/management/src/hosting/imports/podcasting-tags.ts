import { oneLine } from './feed-text.ts';
import { parseFeedDate, parseSeconds } from './feed-values.ts';
import { quoted, type ImportNotes } from './import-notes.ts';
import { present } from './keep-valid.ts';
import { firstText, type XmlNode } from './xml-node.ts';

/** Tags of the Podcasting 2.0 namespace in the catalog's form; `keepValid` drops invalid ones. */

type Fields = Record<string, unknown>;

const tagText = (text: string | undefined) => oneLine(text, 128);
const address = (text: string | undefined) => text?.trim() || undefined;
const wholeNumber = (text: string | undefined) => (/^\s*\d{1,15}\s*$/.test(text ?? '') ? Number(text) : undefined);
const yes = (text: string | undefined) => (text === undefined ? undefined : /^(true|yes)$/i.test(text.trim()));
const milliseconds = (text: string | undefined) => {
  const seconds = parseSeconds(text);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
};
const all = (node: XmlNode, name: string, read: (tag: XmlNode) => Fields): Fields[] =>
  node.children(`podcast:${name}`).map((tag) => present(read(tag)));

/** The first tag of a name that is allowed once. */
function first(node: XmlNode, name: string, notes: ImportNotes, read: (tag: XmlNode) => Fields): Fields | undefined {
  const found = all(node, name, read);
  if (found.length > 1) notes.lost(`podcast:${name}`, `Only the first of ${found.length} is kept.`);
  return found[0];
}

const remoteItem = (tag: XmlNode): Fields =>
  present({
    feed_guid: tag.attribute('feedGuid')?.trim().toLowerCase(),
    feed_url: address(tag.attribute('feedUrl')),
    item_guid: address(tag.attribute('itemGuid')),
    title: tagText(tag.attribute('title')),
  });
const remoteItems = (tag: XmlNode | undefined) => tag?.children('podcast:remoteItem').map(remoteItem);

const recipients = (tag: XmlNode): Fields[] =>
  all(tag, 'valueRecipient', (to) => ({
    name: tagText(to.attribute('name')),
    type: address(to.attribute('type')),
    address: address(to.attribute('address')),
    custom_key: address(to.attribute('customKey')),
    custom_value: address(to.attribute('customValue')),
    split: wholeNumber(to.attribute('split')),
    fee: yes(to.attribute('fee')),
  }));
const some = (list: Fields[] | undefined) => (list?.length ? list : undefined);

const timeSplits = (tag: XmlNode): Fields[] =>
  all(tag, 'valueTimeSplit', (split) => ({
    start_ms: milliseconds(split.attribute('startTime')),
    duration_ms: milliseconds(split.attribute('duration')),
    remote_start_ms: milliseconds(split.attribute('remoteStartTime')),
    remote_percentage: wholeNumber(split.attribute('remotePercentage')),
    remote_item: remoteItems(split)?.[0],
    recipients: some(recipients(split)),
  }));

/** Tags that a channel and an item share. */
const sharedTags = (node: XmlNode, notes: ImportNotes): Fields => ({
  persons: all(node, 'person', (tag) => ({
    name: tagText(tag.text),
    role: tagText(tag.attribute('role'))?.toLowerCase(),
    group: tagText(tag.attribute('group'))?.toLowerCase(),
    image_url: address(tag.attribute('img')),
    link: address(tag.attribute('href')),
  })),
  location: first(node, 'location', notes, (tag) => ({
    name: tagText(tag.text),
    geo: address(tag.attribute('geo')),
    osm: /^[NWR]\d{1,20}/.exec(tag.attribute('osm') ?? '')?.[0],
  })),
  license: first(node, 'license', notes, (tag) => ({ id: tagText(tag.text), url: address(tag.attribute('url')) })),
  value: first(node, 'value', notes, (tag) => ({
    type: address(tag.attribute('type')),
    method: address(tag.attribute('method')),
    suggested: address(tag.attribute('suggested')),
    recipients: recipients(tag),
    time_splits: some(timeSplits(tag)),
  })),
});

/** Whether directories shall hide this channel or item (Apple's itunes:block). */
export const isBlocked = (node: XmlNode): boolean =>
  ['itunes:block', 'googleplay:block'].some((name) => node.children(name).some((tag) => yes(tag.text)));

/** Slugs of the directories that shall not list a channel; "all" is every one. */
export const namespaceBlocks = (channel: XmlNode): string[] =>
  channel
    .children('podcast:block')
    .filter((tag) => yes(tag.text))
    .map((tag) => tag.attribute('id')?.trim().toLowerCase() ?? 'all');

/** A live item is a stream and no file, so it cannot become an episode. */
function liveItemNote(live: XmlNode): string {
  const [title, status, start] = [firstText(live, 'title'), live.attribute('status'), live.attribute('start')];
  const details = [
    quoted(title ?? firstText(live, 'guid') ?? 'without a title'),
    ...(status ? [`status ${quoted(status)}`] : []),
    ...(start ? [`start ${quoted(start)}`] : []),
  ];
  return `Live streams are not hosted here, so this live item was not imported: ${details.join(', ')}.`;
}

/** Tags of a channel. */
export function channelTags(channel: XmlNode, notes: ImportNotes): Fields {
  for (const live of channel.children('podcast:liveItem')) notes.lost('podcast:liveItem', liveItemNote(live));
  return {
    ...sharedTags(channel, notes),
    medium: address(channel.children('podcast:medium')[0]?.text)?.toLowerCase(),
    funding: all(channel, 'funding', (tag) => ({
      url: address(tag.attribute('url')),
      text: tagText(tag.text) ?? 'Support the show',
    })),
    texts: all(channel, 'txt', (tag) => ({ purpose: tagText(tag.attribute('purpose')), value: address(tag.text) })),
    update_frequency: first(channel, 'updateFrequency', notes, (tag) => ({
      text: tagText(tag.text),
      complete: yes(tag.attribute('complete')),
      rrule: address(tag.attribute('rrule')),
      start: parseFeedDate(tag.attribute('dtstart'))?.toISOString(),
    })),
    trailers: all(channel, 'trailer', (tag) => ({
      title: tagText(tag.text) ?? 'Trailer',
      url: address(tag.attribute('url')),
      published_at: parseFeedDate(tag.attribute('pubdate'))?.toISOString(),
      content_type: address(tag.attribute('type')),
      size_bytes: wholeNumber(tag.attribute('length')),
      season: wholeNumber(tag.attribute('season')),
    })),
    podroll: remoteItems(channel.children('podcast:podroll')[0]),
    publisher: remoteItems(channel.children('podcast:publisher')[0])?.map(({ feed_guid, feed_url }) =>
      present({ feed_guid, feed_url }),
    )[0],
    chat: first(channel, 'chat', notes, (tag) => ({
      server: address(tag.attribute('server')),
      protocol: address(tag.attribute('protocol')),
      account_id: tagText(tag.attribute('accountId')),
      space: address(tag.attribute('space')),
    })),
  };
}

const alternateEnclosure = (tag: XmlNode): Fields => {
  const [integrity] = tag.children('podcast:integrity');
  return {
    content_type: address(tag.attribute('type')),
    size_bytes: wholeNumber(tag.attribute('length')),
    bitrate: parseSeconds(tag.attribute('bitrate')),
    height: wholeNumber(tag.attribute('height')),
    language: address(tag.attribute('lang')),
    title: tagText(tag.attribute('title')),
    rel: tagText(tag.attribute('rel')),
    codecs: address(tag.attribute('codecs')),
    default: yes(tag.attribute('default')),
    integrity:
      integrity &&
      present({ type: address(integrity.attribute('type')), value: address(integrity.attribute('value')) }),
    sources: all(tag, 'source', (source) => ({
      uri: address(source.attribute('uri')),
      content_type: address(source.attribute('contentType')),
    })),
  };
};

/** Tags of an item. */
export const itemTags = (item: XmlNode, notes: ImportNotes): Fields => ({
  ...sharedTags(item, notes),
  alternate_enclosures: all(item, 'alternateEnclosure', alternateEnclosure),
  soundbites: all(item, 'soundbite', (tag) => ({
    start_ms: milliseconds(tag.attribute('startTime')),
    duration_ms: milliseconds(tag.attribute('duration')),
    title: tagText(tag.text),
  })),
  social_interact: all(item, 'socialInteract', (tag) => ({
    protocol: address(tag.attribute('protocol'))?.toLowerCase(),
    uri: address(tag.attribute('uri')),
    account_id: tagText(tag.attribute('accountId')),
    account_url: address(tag.attribute('accountUrl')),
    priority: wholeNumber(tag.attribute('priority')),
  })),
});
