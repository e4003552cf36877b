import { aacTrack } from './aac-track.ts';
import type { BitRates } from './segments.ts';
import { lines, quoted, uriText } from './tag.ts';

/** What a player may choose by language. The ads of a presentation have its name and language, whatever is said in them. */
interface NamedRendition {
  /** As people read it: "English". */
  readonly name: string;
  /** BCP 47. */
  readonly language: string;
  /** Of the media playlist, from this one. */
  readonly uri: string;
}

/** One size of the picture. */
interface PictureRendition {
  readonly uri: string;
  /** "avc1.64001f". */
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly rates: BitRates;
}

export interface Renditions {
  /** Of the chapters, when there are any. */
  readonly chaptersUri?: string;
  readonly audio: NamedRendition & { readonly rates: BitRates };
  readonly captions?: readonly NamedRendition[];
  /** From the smallest; none in a presentation of sound alone. `frameRate` is in pictures a second. */
  readonly pictures?: readonly (PictureRendition & { readonly frameRate: number })[];
  /** Pictures for seeking. */
  readonly iFrames?: PictureRendition;
}

const attributes = (each: Readonly<Record<string, string | number>>) =>
  Object.entries(each)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');

const media = (type: 'AUDIO' | 'SUBTITLES', group: string, { name, language, uri }: NamedRendition) =>
  `#EXT-X-MEDIA:${attributes({
    TYPE: type,
    'GROUP-ID': quoted(group),
    NAME: quoted(name),
    LANGUAGE: quoted(language),
    ...(type === 'AUDIO'
      ? { DEFAULT: 'YES', AUTOSELECT: 'YES', CHANNELS: quoted(String(aacTrack.channels)) }
      : { DEFAULT: 'NO', AUTOSELECT: 'YES', FORCED: 'NO' }),
    URI: quoted(uriText(uri)),
  })}`;

const bandwidth = ({ peak, average }: BitRates) => ({ BANDWIDTH: peak, 'AVERAGE-BANDWIDTH': average });
const together = (a: BitRates, b: BitRates): BitRates => ({ peak: a.peak + b.peak, average: a.average + b.average });

/**
 * The multivariant playlist of a presentation or of an ad: each picture with the sound, the sound alone, and pictures for seeking.
 * No captions are inside of the pictures, so every variant says that it has none. Throws `RangeError` for an address that `uriText` refuses.
 */
export function renderMultivariant({ chaptersUri, audio, captions = [], pictures = [], iFrames }: Renditions): string {
  const groups = {
    AUDIO: quoted('aud'),
    ...(captions.length > 0 && { SUBTITLES: quoted('sub') }),
    'CLOSED-CAPTIONS': 'NONE',
  };
  const variants = pictures.flatMap(({ uri, codec, width, height, frameRate, rates }) => [
    `#EXT-X-STREAM-INF:${attributes({
      ...bandwidth(together(rates, audio.rates)),
      CODECS: quoted(`${codec},${aacTrack.codec}`),
      RESOLUTION: `${width}x${height}`,
      'FRAME-RATE': frameRate.toFixed(3),
      ...groups,
    })}`,
    uriText(uri),
  ]);
  return lines(
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...(chaptersUri === undefined
      ? []
      : [`#EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI=${quoted(uriText(chaptersUri))}`]),
    media('AUDIO', 'aud', audio),
    ...captions.map((each) => media('SUBTITLES', 'sub', each)),
    ...variants,
    `#EXT-X-STREAM-INF:${attributes({ ...bandwidth(audio.rates), CODECS: quoted(aacTrack.codec), ...groups })}`,
    uriText(audio.uri),
    ...(iFrames ? [iFrameVariant(iFrames)] : []),
  );
}

const iFrameVariant = ({ uri, codec, width, height, rates }: PictureRendition) =>
  `#EXT-X-I-FRAME-STREAM-INF:${attributes({
    ...bandwidth(rates),
    CODECS: quoted(codec),
    RESOLUTION: `${width}x${height}`,
    URI: quoted(uriText(uri)),
  })}`;
