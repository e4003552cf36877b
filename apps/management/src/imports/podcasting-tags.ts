import { oneLine } from './feed-text.ts';
import { parseFeedDate, parseSeconds } from './feed-values.ts';
import { present } from './keep-valid.ts';
import type { XmlNode } from './xml-node.ts';

/** Tags of the Podcasting 2.0 namespace, read as the catalog writes them; what is not valid there is dropped by `keepValid`. */

type Fields = Record<string, unknown>;

const tagText = (text: string | undefined) => oneLine(text, 128);
const address = (text: string | undefined) => text?.trim() || undefined;
const wholeNumber = (text: string | undefined) => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : undefined);
const yes = (text: string | undefined) => (text === undefined ? undefined : /^(true|yes)$/i.test(text.trim()));
const all = (node: XmlNode, name: string, read: (tag: XmlNode) => Fields): Fields[] =>
  node.children(`podcast:${name}`).map((tag) => present(read(tag)));
const first = (node: XmlNode, name: string, read: (tag: XmlNode) => Fields): Fields | undefined =>
  all(node, name, read)[0];

const remoteItem = (tag: XmlNode): Fields =>
  present({
    feed_guid: tag.attribute('feedGuid')?.trim().toLowerCase(),
    feed_url: address(tag.attribute('feedUrl')),
    item_guid: address(tag.attribute('itemGuid')),
    title: tagText(tag.attribute('title')),
  });
const remoteItems = (tag: XmlNode | undefined) => tag?.children('podcast:remoteItem').map(remoteItem);

/** Tags that a channel and an item share. */
export const sharedTags = (node: XmlNode): Fields => ({
  persons: all(node, 'person', (tag) => ({
    name: tagText(tag.text),
    role: tagText(tag.attribute('role'))?.toLowerCase(),
    group: tagText(tag.attribute('group'))?.toLowerCase(),
    image_url: address(tag.attribute('img')),
    link: address(tag.attribute('href')),
  })),
  location: first(node, 'location', (tag) => ({
    name: tagText(tag.text),
    geo: address(tag.attribute('geo')),
    osm: /^[NWR]\d{1,20}/.exec(tag.attribute('osm') ?? '')?.[0],
  })),
  license: first(node, 'license', (tag) => ({ id: tagText(tag.text), url: address(tag.attribute('url')) })),
  value: first(node, 'value', (tag) => ({
    type: address(tag.attribute('type')),
    method: address(tag.attribute('method')),
    suggested: address(tag.attribute('suggested')),
    recipients: all(tag, 'valueRecipient', (to) => ({
      name: tagText(to.attribute('name')),
      type: address(to.attribute('type')),
      address: address(to.attribute('address')),
      custom_key: address(to.attribute('customKey')),
      custom_value: address(to.attribute('customValue')),
      split: wholeNumber(to.attribute('split')),
      fee: yes(to.attribute('fee')),
    })),
  })),
});

/** Tags of a channel. */
export const channelTags = (channel: XmlNode): Fields => ({
  ...sharedTags(channel),
  medium: address(channel.children('podcast:medium')[0]?.text)?.toLowerCase(),
  funding: all(channel, 'funding', (tag) => ({
    url: address(tag.attribute('url')),
    text: tagText(tag.text) ?? 'Support the show',
  })),
  texts: all(channel, 'txt', (tag) => ({ purpose: tagText(tag.attribute('purpose')), value: address(tag.text) })),
  update_frequency: first(channel, 'updateFrequency', (tag) => ({
    text: tagText(tag.text),
    complete: yes(tag.attribute('complete')),
    rrule: address(tag.attribute('rrule')),
    start: parseFeedDate(tag.attribute('dtstart'))?.toISOString(),
  })),
  blocked_platforms: channel
    .children('podcast:block')
    .filter((tag) => yes(tag.text))
    .map((tag) => tag.attribute('id')?.trim().toLowerCase() ?? 'all'),
  podroll: remoteItems(channel.children('podcast:podroll')[0]),
  publisher: remoteItems(channel.children('podcast:publisher')[0])?.map(({ feed_guid, feed_url }) =>
    present({ feed_guid, feed_url }),
  )[0],
  chat: first(channel, 'chat', (tag) => ({
    server: address(tag.attribute('server')),
    protocol: address(tag.attribute('protocol')),
    account_id: tagText(tag.attribute('accountId')),
    space: address(tag.attribute('space')),
  })),
});

const milliseconds = (text: string | undefined) => {
  const seconds = parseSeconds(text);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
};

/** Tags of an item. */
export const itemTags = (item: XmlNode): Fields => ({
  ...sharedTags(item),
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
