import { plainOf, quotedOf, type Attributes } from './attributes.ts';
import type { MediaRead, Presentation } from './presentation.ts';
import type { AttributeTag, Variant } from './playlist.ts';

const videoCodec = /^(avc|hvc|hev|dvh|dva|av01|vp0|mp4v)/i;
const audioCodec = /^(mp4a|ac-3|ac-4|ec-3|opus|flac|alac)/i;

/** The formats in `CODECS`. */
export const codecsOf = (attributes: Attributes): readonly string[] =>
  (quotedOf(attributes, 'CODECS') ?? '').split(',').flatMap((codec) => codec.trim() || []);

export const hasVideoCodec = (attributes: Attributes): boolean =>
  codecsOf(attributes).some((codec) => videoCodec.test(codec));
export const hasAudioCodec = (attributes: Attributes): boolean =>
  codecsOf(attributes).some((codec) => audioCodec.test(codec));

/** Whether a variant has a picture. */
export const isVideo = ({ attributes }: AttributeTag): boolean =>
  attributes.has('RESOLUTION') || hasVideoCodec(attributes);

export const renditionsOf = ({ main }: Presentation, type: string): readonly AttributeTag[] =>
  main.renditions.filter(({ attributes }) => plainOf(attributes, 'TYPE') === type);

/** The renditions of the group that a variant names. */
export function groupOf(presentation: Presentation, { attributes }: Variant, type: string): readonly AttributeTag[] {
  const group = quotedOf(attributes, type);
  return group === undefined
    ? []
    : renditionsOf(presentation, type).filter((each) => quotedOf(each.attributes, 'GROUP-ID') === group);
}

/** Every media playlist once. */
export const allMedia = ({ media }: Presentation): readonly MediaRead[] => [...new Set(media.values())];

/** Those of audio and video once. */
export const playedMedia = (presentation: Presentation): readonly MediaRead[] =>
  allMedia(presentation).filter(({ kind }) => kind === 'audio' || kind === 'video');

/** The playlist that others are compared with: audio, which every presentation should have. */
export function referenceMedia(presentation: Presentation): MediaRead | undefined {
  const played = playedMedia(presentation);
  return played.find(({ kind }) => kind === 'audio') ?? played[0];
}

export const mediaOfTag = ({ media }: Presentation, { attributes }: AttributeTag): MediaRead | undefined =>
  media.get(quotedOf(attributes, 'URI') ?? '');

/** Whether a date range is an interstitial, also one whose class is forgotten. */
export const isInterstitial = (attributes: Attributes): boolean =>
  quotedOf(attributes, 'CLASS') === 'com.apple.hls.interstitial' ||
  attributes.has('X-ASSET-LIST') ||
  attributes.has('X-ASSET-URI');

/** Pixels of `RESOLUTION`. */
export function resolutionOf({
  attributes,
}: AttributeTag): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(plainOf(attributes, 'RESOLUTION') ?? '') ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

export const seconds = (value: number): string => `${Number(value.toFixed(3))} s`;
