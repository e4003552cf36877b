import { tryParseDuration } from './duration.ts';
import { inboundUrlFault } from './https-url.ts';
import type { XmlElement } from './read-xml.ts';
import type { InlineAd, MediaFile, Tracker, TrackerEvent, WrapperAd } from './vast-document.ts';
import { VastError } from './vast-error.ts';

const maxTrackers = 100;
const maxMediaFiles = 50;
const maxTextCharacters = 255;

/** Events of `Tracking` that are read; others are skipped. */
const trackedEvents: readonly string[] = [
  ...(['start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete'] satisfies TrackerEvent[]),
];

const childrenOf = (element: XmlElement | undefined, name: string) =>
  (element?.children ?? []).filter((child) => child.name === name);
const childOf = (element: XmlElement | undefined, name: string) => childrenOf(element, name)[0];
/** Text on one line; undefined when there is none. */
const lineOf = (text: string | undefined) =>
  text?.replace(/\s+/g, ' ').trim().slice(0, maxTextCharacters).toWellFormed() || undefined;
const textOf = (element: XmlElement, name: string) => lineOf(childOf(element, name)?.text);
/** A whole number of at most nine digits. */
const numberOf = (text: string | undefined) => (/^\d{1,9}$/.test(text?.trim() ?? '') ? Number(text) : undefined);

/** Addresses that are read, and how many could not be used. */
class UrlReader {
  unusable = 0;

  read(element: XmlElement): string | undefined {
    const { text } = element;
    if (text === '') return undefined;
    if (inboundUrlFault(text) === undefined) return text;
    this.unusable += 1;
    return undefined;
  }
}

/** Addresses of `Error` elements directly in an element. */
export function errorUrlsOf(element: XmlElement): readonly string[] {
  const urls = new UrlReader();
  return childrenOf(element, 'Error')
    .flatMap((error) => urls.read(error) ?? [])
    .slice(0, maxTrackers);
}

/** Creatives of an ad that play in line with the episode. */
const linearCreatives = (ad: XmlElement) =>
  childrenOf(childOf(ad, 'Creatives'), 'Creative').flatMap((creative) => {
    const linear = childOf(creative, 'Linear');
    return linear ? [{ creative, linear }] : [];
  });

/** Impressions, points of the ad, clicks and errors, in this order. */
function readTrackers(ad: XmlElement, linears: readonly XmlElement[], urls: UrlReader): readonly Tracker[] {
  const tracker = (event: TrackerEvent) => (element: XmlElement) => {
    const url = urls.read(element);
    return url === undefined ? [] : [{ event, url }];
  };
  const trackers = [
    ...childrenOf(ad, 'Impression').flatMap(tracker('impression')),
    ...linears
      .flatMap((linear) => childrenOf(childOf(linear, 'TrackingEvents'), 'Tracking'))
      .flatMap((element) => {
        const event = element.attribute('event') ?? '';
        return trackedEvents.includes(event) ? tracker(event as TrackerEvent)(element) : [];
      }),
    ...linears
      .flatMap((linear) => childrenOf(childOf(linear, 'VideoClicks'), 'ClickTracking'))
      .flatMap(tracker('click')),
    ...childrenOf(ad, 'Error').flatMap(tracker('error')),
  ];
  if (trackers.length > maxTrackers) throw new VastError(900, `The ad has more than ${maxTrackers} trackers.`);
  return trackers;
}

function readMediaFile(element: XmlElement, urls: UrlReader): readonly MediaFile[] {
  // A program for the player, as in VPAID.
  if (element.attribute('apiFramework')) return [];
  const url = urls.read(element);
  if (url === undefined) return [];
  const type = lineOf(element.attribute('type')?.split(';', 1)[0]?.toLowerCase()) ?? '';
  const [width = 0, height = 0] = ['width', 'height'].map((name) => numberOf(element.attribute(name)));
  return [
    {
      ...{ url, type, width, height },
      delivery: element.attribute('delivery') === 'streaming' ? 'streaming' : 'progressive',
      isVideo: type.startsWith('video/') || width > 0 || height > 0,
      codec: lineOf(element.attribute('codec')),
      kbps: numberOf(element.attribute('bitrate')),
    },
  ];
}

function readMediaFiles(linear: XmlElement, urls: UrlReader): readonly MediaFile[] {
  const elements = childrenOf(childOf(linear, 'MediaFiles'), 'MediaFile');
  if (elements.length > maxMediaFiles) throw new VastError(900, `The ad has more than ${maxMediaFiles} media files.`);
  const files = elements.flatMap((element) => readMediaFile(element, urls));
  if (files.length === 0) throw new VastError(401, 'The ad has no media file with an https address.');
  return files;
}

/** VAST 4.0 has the value in an attribute, later versions have it as text. */
const readUniversalAdIds = (creative: XmlElement) =>
  childrenOf(creative, 'UniversalAdId').flatMap((element) => {
    const value = lineOf(element.text) ?? lineOf(element.attribute('idValue'));
    return value === undefined ? [] : [{ registry: lineOf(element.attribute('idRegistry')) ?? 'unknown', value }];
  });

/** @throws {VastError} when the ad cannot be used */
export function readInline(ad: XmlElement, inline: XmlElement): InlineAd {
  const [first] = linearCreatives(inline);
  if (!first) throw new VastError(403, 'The ad has no Linear creative: nothing in it plays in line with an episode.');
  const { creative, linear } = first;
  const urls = new UrlReader();
  const durationMs = tryParseDuration(childOf(linear, 'Duration')?.text ?? '');
  if (!durationMs) throw new VastError(101, 'The ad has no Duration of the form HH:MM:SS or HH:MM:SS.mmm.');
  const mediaFiles = readMediaFiles(linear, urls);
  const adType = ad.attribute('adType');
  const clickThrough = childOf(childOf(linear, 'VideoClicks'), 'ClickThrough');
  const clickThroughUrl = clickThrough && urls.read(clickThrough);
  const trackers = readTrackers(inline, [linear], urls);
  return {
    id: lineOf(ad.attribute('id')),
    sequence: numberOf(ad.attribute('sequence')),
    adType: adType === 'audio' || adType === 'hybrid' ? adType : 'video',
    system: textOf(inline, 'AdSystem'),
    title: textOf(inline, 'AdTitle'),
    servingId: textOf(inline, 'AdServingId'),
    creativeId: lineOf(creative.attribute('adId')) ?? lineOf(creative.attribute('id')),
    categories: childrenOf(inline, 'Category').flatMap(({ text }) => lineOf(text) ?? []),
    universalAdIds: readUniversalAdIds(creative),
    ...{ durationMs, mediaFiles, trackers, clickThroughUrl },
    expiresSeconds: numberOf(childOf(inline, 'Expires')?.text),
    unusableUrls: urls.unusable,
  };
}

/** An `xs:boolean`, or `absent`. */
const flagOf = (text: string | undefined, absent: boolean) =>
  text === undefined ? absent : ['true', '1'].includes(text.trim().toLowerCase());

/** @throws {VastError} when it says no address to go on at */
export function readWrapper(ad: XmlElement, wrapper: XmlElement): WrapperAd {
  const urls = new UrlReader();
  const tag = childOf(wrapper, 'VASTAdTagURI');
  const fault = tag ? inboundUrlFault(tag.text) : 'is missing';
  if (!tag || fault !== undefined) throw new VastError(101, `The VASTAdTagURI of the wrapper ${fault}.`);
  const linears = linearCreatives(wrapper).map(({ linear }) => linear);
  const trackers = readTrackers(wrapper, linears, urls);
  return {
    id: lineOf(ad.attribute('id')),
    tagUrl: tag.text,
    followAdditionalWrappers: flagOf(wrapper.attribute('followAdditionalWrappers'), true),
    allowMultipleAds: flagOf(wrapper.attribute('allowMultipleAds'), false),
    trackers,
    unusableUrls: urls.unusable,
  };
}
