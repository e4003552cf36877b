import { cdataElement, element, emptyElement, legalText, textElement } from '@longwave/xml';
import { formatDuration } from './duration.ts';

/** The XML namespace of VAST 4. */
const namespace = 'http://www.iab.com/VAST';
const maxAds = 8;
const maxMediaFiles = 3;
const maxTrackingUrls = 24;
const maxUrlCharacters = 2_000;
const maxTextCharacters = 255;
const maxExpiresSeconds = 86_400;
const maxBytes = 64 * 1024;

/** Events of a linear ad that players report. */
const trackingEvents = [
  ...(['loaded', 'start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete'] as const),
  ...(['mute', 'unmute', 'pause', 'resume', 'rewind', 'skip', 'closeLinear'] as const),
];
export type TrackingEvent = (typeof trackingEvents)[number];

type AnsweredMediaFile =
  | { readonly kind: 'mp3'; readonly url: string; readonly kbps: number }
  | {
      readonly kind: 'hls';
      readonly url: string;
      readonly minKbps: number;
      readonly maxKbps: number;
      /** Pixels of the largest picture; none without a picture. */
      readonly picture?: { readonly width: number; readonly height: number };
    };

export interface AnsweredAd {
  /** Of the slot, so the same creative in two slots has two. */
  readonly servingId: string;
  /** The creative's public title. */
  readonly title: string;
  readonly creativeId: string;
  readonly adType: 'audio' | 'video';
  readonly durationMs: number;
  /** One to three. */
  readonly mediaFiles: readonly AnsweredMediaFile[];
  readonly impressionUrl: string;
  readonly errorUrl: string;
  /** At most 24, written in this order. */
  readonly trackingUrls: readonly { readonly event: TrackingEvent; readonly url: string }[];
  readonly clickThroughUrl?: string;
}

/** The decision for one opportunity. */
export interface VastAnswer {
  readonly system: { readonly name: string; readonly version: string };
  /** How long the answer holds, from the decision on: 1 to 86,400. */
  readonly expiresSeconds: number;
  /** At most eight, in the order of playing. */
  readonly ads: readonly AnsweredAd[];
}

function checkedUrl(url: string, what: string): string {
  const refuse = (fault: string) =>
    new RangeError(`The address of ${what} ${fault}: ${JSON.stringify(url.slice(0, 200))}.`);
  if (url.length > maxUrlCharacters) throw refuse(`is longer than ${maxUrlCharacters} characters`);
  // Characters of RFC 3986; brackets may stand around an IPv6 host only, so no macro fits.
  const isAbsolute = /^https?:\/\/[\w.:[\]~-]+(?:[/?#](?:[\w.~:/?#@!$&'()*+,;=-]|%[\da-fA-F]{2})*)?$/.test(url);
  if (!isAbsolute || !URL.canParse(url))
    throw refuse('is no absolute http or https address, or has characters that must be percent-encoded');
  return url;
}

function checkedText(text: string, what: string): string {
  const legal = legalText(text).trim();
  if (legal === '' || legal.length > maxTextCharacters)
    throw new RangeError(`The ${what} is empty or longer than ${maxTextCharacters} characters.`);
  return legal;
}

function checkedInteger(value: number, what: string, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max)
    throw new RangeError(`The ${what} is no whole number from ${min} to ${max}: ${value}.`);
  return value;
}

function checkCount(items: readonly unknown[], what: string, min: number, max: number): void {
  if (items.length < min || items.length > max)
    throw new RangeError(`${items.length} ${what} where ${min} to ${max} are allowed.`);
}

function mediaFileLines(file: AnsweredMediaFile): readonly string[] {
  const url = checkedUrl(file.url, `the ${file.kind} file`);
  const kbps = (value: number, what: string) => checkedInteger(value, what, 1, 100_000);
  if (file.kind === 'mp3') {
    const attributes = { id: 'mp3', delivery: 'progressive', type: 'audio/mpeg', codec: 'mp3' };
    return cdataElement('MediaFile', url, { ...attributes, bitrate: kbps(file.kbps, 'bit rate'), width: 0, height: 0 });
  }
  const { width, height } = file.picture ?? { width: 0, height: 0 };
  return cdataElement('MediaFile', url, {
    ...{ id: 'hls', delivery: 'streaming', type: 'application/vnd.apple.mpegurl' },
    ...{ minBitrate: kbps(file.minKbps, 'least bit rate'), maxBitrate: kbps(file.maxKbps, 'greatest bit rate') },
    ...{ width: checkedInteger(width, 'width', 0, 8_192), height: checkedInteger(height, 'height', 0, 8_192) },
  });
}

/** The schema fixes the order: tracking, duration, media files, clicks. */
function linearLines(ad: AnsweredAd): readonly string[] {
  checkCount(ad.mediaFiles, 'media files', 1, maxMediaFiles);
  checkCount(ad.trackingUrls, 'tracking addresses', 0, maxTrackingUrls);
  const tracking = ad.trackingUrls.flatMap(({ event, url }) => {
    if (!trackingEvents.includes(event)) throw new RangeError(`VAST has no event ${JSON.stringify(event)}.`);
    return cdataElement('Tracking', checkedUrl(url, event), { event });
  });
  const { clickThroughUrl } = ad;
  return element('Linear', {}, [
    ...(tracking.length === 0 ? [] : element('TrackingEvents', {}, tracking)),
    ...textElement('Duration', formatDuration(checkedInteger(ad.durationMs, 'duration in ms', 1, 86_399_999))),
    ...element('MediaFiles', {}, ad.mediaFiles.flatMap(mediaFileLines)),
    ...(clickThroughUrl === undefined
      ? []
      : element('VideoClicks', {}, cdataElement('ClickThrough', checkedUrl(clickThroughUrl, 'the click-through')))),
  ]);
}

function adLines(ad: AnsweredAd, sequence: number, { system, expiresSeconds }: VastAnswer): readonly string[] {
  const servingId = checkedText(ad.servingId, 'serving id');
  const creativeId = checkedText(ad.creativeId, 'creative id');
  return element('Ad', { id: servingId, sequence, adType: ad.adType }, [
    ...element('InLine', {}, [
      ...textElement('AdSystem', checkedText(system.name, 'name of the system'), {
        version: checkedText(system.version, 'version of the system'),
      }),
      ...cdataElement('Error', checkedUrl(ad.errorUrl, 'the error')),
      ...cdataElement('Impression', checkedUrl(ad.impressionUrl, 'the impression'), { id: '1' }),
      ...textElement('AdServingId', servingId),
      ...textElement('AdTitle', checkedText(ad.title, 'title')),
      ...element('Creatives', {}, [
        ...element('Creative', { id: creativeId, adId: creativeId, sequence: 1 }, [
          ...linearLines(ad),
          ...textElement('UniversalAdId', creativeId, { idRegistry: 'unknown' }),
        ]),
      ]),
      ...textElement('Expires', checkedInteger(expiresSeconds, 'expiry in seconds', 1, maxExpiresSeconds)),
    ]),
  ]);
}

/**
 * The VAST 4.2 document for one opportunity; equal answers give equal bytes. It has no price, category, advertiser or extension, and no macro in any
 * address. Throws RangeError for an address that is not absolute http or https, for a text, number or count out of its bounds, and for more than
 * 64 KiB.
 */
export function renderVast(answer: VastAnswer): string {
  checkCount(answer.ads, 'ads', 0, maxAds);
  const root = { xmlns: namespace, version: '4.2' };
  if (answer.ads.length === 0) return emptyElement('VAST', root);
  const lines = element(
    'VAST',
    root,
    answer.ads.flatMap((ad, index) => adLines(ad, index + 1, answer)),
  );
  const text = ['<?xml version="1.0" encoding="UTF-8"?>', ...lines, ''].join('\n');
  if (Buffer.byteLength(text) > maxBytes) throw new RangeError(`The document is larger than ${maxBytes} bytes.`);
  return text;
}
