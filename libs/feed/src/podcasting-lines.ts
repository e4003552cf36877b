import { element, emptyElement, taggedElement, textElement } from '@longwave/xml';
import type {
  FeedAlternateEnclosure,
  FeedEpisode,
  FeedImage,
  FeedLicense,
  FeedLocation,
  FeedPerson,
  FeedPodcast,
  FeedRemoteItem,
  FeedTrailer,
  FeedValue,
  FeedValueRecipient,
} from './feed.ts';
import { asciiUrl, clipTag, decimalSeconds, rfc2822Date } from './feed-text.ts';

/** Lines of the Podcasting 2.0 namespace that a channel and an item share, and those of each. Tag names and rules are the namespace's. */

const urlOf = (url: string | undefined) => (url === undefined ? undefined : asciiUrl(url));

const personLines = (persons: readonly FeedPerson[] = []): readonly string[] =>
  persons.flatMap(({ name, role, group, imageUrl, link }) =>
    textElement('podcast:person', clipTag(name), { role, group, img: urlOf(imageUrl), href: urlOf(link) }),
  );

const locationLines = (location: FeedLocation | undefined): readonly string[] =>
  location === undefined
    ? []
    : textElement('podcast:location', clipTag(location.name), { geo: location.geo, osm: location.osm });

const licenseLines = (license: FeedLicense | undefined): readonly string[] =>
  license === undefined ? [] : textElement('podcast:license', clipTag(license.id), { url: urlOf(license.url) });

/** The images one by one, and all in the older tag that some apps still read. */
function imageLines(images: readonly FeedImage[] = []): readonly string[] {
  if (images.length === 0) return [];
  return [
    ...images.map(({ url, size, contentType }) =>
      emptyElement('podcast:image', {
        href: asciiUrl(url),
        'aspect-ratio': '1/1',
        width: size,
        height: size,
        type: contentType,
        purpose: 'artwork',
      }),
    ),
    emptyElement('podcast:images', { srcset: images.map(({ url, size }) => `${asciiUrl(url)} ${size}w`).join(', ') }),
  ];
}

const remoteItem = ({ feedGuid, feedUrl, itemGuid, title }: FeedRemoteItem, medium?: string): string =>
  emptyElement('podcast:remoteItem', { feedGuid, feedUrl: urlOf(feedUrl), itemGuid, medium, title: clipTag(title) });

const recipientLine = (recipient: FeedValueRecipient): string =>
  emptyElement('podcast:valueRecipient', {
    name: clipTag(recipient.name),
    type: recipient.type,
    address: recipient.address,
    customKey: recipient.customKey,
    customValue: recipient.customValue,
    split: recipient.split,
    fee: recipient.fee === undefined ? undefined : String(recipient.fee),
  });

function valueLines(value: FeedValue | undefined): readonly string[] {
  if (value === undefined) return [];
  const { type, method, suggested, recipients, timeSplits = [] } = value;
  return element('podcast:value', { type, method, suggested }, [
    ...recipients.map(recipientLine),
    // A time split without recipients is left out.
    ...timeSplits
      .filter(({ remoteItem: remote, recipients: to = [] }) => remote !== undefined || to.length > 0)
      .flatMap(({ startMs, durationMs, remoteStartMs, remotePercentage, remoteItem: remote, recipients: to = [] }) =>
        element(
          'podcast:valueTimeSplit',
          {
            startTime: decimalSeconds(startMs),
            duration: decimalSeconds(durationMs),
            remoteStartTime: remoteStartMs === undefined ? undefined : decimalSeconds(remoteStartMs),
            remotePercentage,
          },
          [...(remote ? [remoteItem(remote)] : []), ...to.map(recipientLine)],
        ),
      ),
  ]);
}

/** The tag describes the file, its sources tell where to get it. */
const alternateEnclosureLines = (enclosure: FeedAlternateEnclosure): readonly string[] =>
  element(
    'podcast:alternateEnclosure',
    {
      type: enclosure.contentType,
      length: enclosure.sizeBytes,
      bitrate: enclosure.bitrate,
      height: enclosure.height,
      lang: enclosure.language,
      title: clipTag(enclosure.title),
      rel: clipTag(enclosure.rel),
      codecs: enclosure.codecs,
      default: enclosure.default === undefined ? undefined : String(enclosure.default),
    },
    [
      ...enclosure.sources.map(({ uri, contentType }) =>
        emptyElement('podcast:source', { uri: asciiUrl(uri), contentType }),
      ),
      ...(enclosure.integrity ? [emptyElement('podcast:integrity', { ...enclosure.integrity })] : []),
    ],
  );

const trailerLines = ({ title, publishedAt, enclosure, season }: FeedTrailer): readonly string[] =>
  textElement('podcast:trailer', clipTag(title), {
    pubdate: rfc2822Date(publishedAt),
    url: asciiUrl(enclosure.url),
    length: enclosure.lengthBytes,
    type: enclosure.contentType,
    season,
  });

const blockLines = (platforms: readonly string[] = []): readonly string[] =>
  platforms.flatMap((id) => textElement('podcast:block', 'yes', { id: id === 'all' ? undefined : id }));

function updateFrequencyLines(frequency: FeedPodcast['updateFrequency']): readonly string[] {
  if (frequency === undefined) return [];
  const { text, complete, rrule, start } = frequency;
  return textElement('podcast:updateFrequency', clipTag(text), {
    complete: complete === undefined ? undefined : String(complete),
    dtstart: start,
    rrule,
  });
}

/** All tags of the namespace that a channel of ours may carry. */
export function channelTagLines(podcast: FeedPodcast): readonly string[] {
  const { podroll = [], publisher, chat, trailers = [], texts = [], funding = [] } = podcast;
  return [
    ...textElement('podcast:guid', podcast.guid),
    ...textElement('podcast:locked', podcast.locked ? 'yes' : 'no', { owner: podcast.ownerEmail }),
    ...textElement('podcast:medium', podcast.medium),
    ...imageLines(podcast.images),
    ...funding.flatMap(({ url, text }) => textElement('podcast:funding', clipTag(text), { url: asciiUrl(url) })),
    ...personLines(podcast.persons),
    ...locationLines(podcast.location),
    ...licenseLines(podcast.license),
    ...texts.flatMap(({ purpose, value }) => textElement('podcast:txt', value, { purpose })),
    ...updateFrequencyLines(podcast.updateFrequency),
    ...blockLines(podcast.blockedPlatforms),
    ...(podroll.length === 0
      ? []
      : element(
          'podcast:podroll',
          {},
          podroll.map((item) => remoteItem(item)),
        )),
    ...(publisher === undefined ? [] : element('podcast:publisher', {}, [remoteItem(publisher, 'publisher')])),
    ...valueLines(podcast.value),
    ...(chat === undefined ? [] : [emptyElement('podcast:chat', { ...chat })]),
    ...trailers.flatMap(trailerLines),
    ...(podcast.usesPodping ? [emptyElement('podcast:podping', { usesPodping: 'true' })] : []),
  ];
}

/** All tags of the namespace that an item of ours may carry. */
export function itemTagLines(episode: FeedEpisode): readonly string[] {
  const { transcripts = [], soundbites = [], socialInteract = [], alternateEnclosures = [] } = episode;
  return [
    ...textElement('podcast:season', episode.season),
    ...textElement('podcast:episode', episode.number),
    ...imageLines(episode.images),
    ...(episode.chaptersUrl === undefined
      ? []
      : [
          emptyElement('podcast:chapters', {
            url: asciiUrl(episode.chaptersUrl),
            type: 'application/json+chapters',
          }),
        ]),
    ...transcripts.map(({ url, contentType, language, captions }) =>
      emptyElement('podcast:transcript', {
        url: asciiUrl(url),
        type: contentType,
        language,
        rel: captions ? 'captions' : undefined,
      }),
    ),
    ...alternateEnclosures.flatMap(alternateEnclosureLines),
    ...soundbites.map(({ startMs, durationMs, title }) =>
      taggedElement('podcast:soundbite', clipTag(title), {
        startTime: decimalSeconds(startMs),
        duration: decimalSeconds(durationMs),
      }),
    ),
    ...personLines(episode.persons),
    ...locationLines(episode.location),
    ...licenseLines(episode.license),
    ...socialInteract.flatMap(({ protocol, uri, accountId, accountUrl, priority }) => {
      // "disabled" stands alone; every other protocol needs the post.
      if (protocol === 'disabled') return [emptyElement('podcast:socialInteract', { protocol })];
      if (uri === undefined) return [];
      const attributes = { protocol, uri: asciiUrl(uri), accountId, accountUrl: urlOf(accountUrl), priority };
      return [emptyElement('podcast:socialInteract', attributes)];
    }),
    ...valueLines(episode.value),
  ];
}
