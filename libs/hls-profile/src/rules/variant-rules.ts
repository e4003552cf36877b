import { plainOf, quotedOf } from '../attributes.ts';
import { failure, lineOf, warning, type Issue } from '../finding.ts';
import type { Variant } from '../playlist.ts';
import type { Presentation } from '../presentation.ts';
import {
  codecsOf,
  groupOf,
  hasAudioCodec,
  hasVideoCodec,
  isVideo,
  mediaOfTag,
  renditionsOf,
  resolutionOf,
} from '../tracks.ts';
import { sources, type Rule } from './rule.ts';

const variantAttributes = ['BANDWIDTH', 'AVERAGE-BANDWIDTH', 'CODECS'];

/** What the files of a variant are against what is declared. */
function* checkDeclared(presentation: Presentation, variant: Variant, where: string): Generator<Issue> {
  const declared = codecsOf(variant.attributes);
  const media = [
    presentation.media.get(variant.uri),
    ...groupOf(presentation, variant, 'AUDIO').map((tag) => mediaOfTag(presentation, tag)),
  ];
  const entries = media
    .flatMap((each) => each?.inits ?? [])
    .flatMap(({ tracks }) => tracks.flatMap(({ entry }) => entry ?? []));
  for (const codec of new Set(entries.map((entry) => entry.codec)))
    if (declared.length > 0 && !declared.some((each) => each === codec || each.startsWith(`${codec}.`)))
      yield failure(where, `CODECS does not name ${codec}, which a file of this variant is. Add it.`);
  const resolution = resolutionOf(variant);
  const picture = entries.find(({ width }) => width !== undefined);
  if (resolution && picture && (picture.width !== resolution.width || picture.height !== resolution.height))
    yield warning(where, `RESOLUTION is not that of the file. Write ${picture.width}x${picture.height}.`);
}

const declarations: Rule = {
  id: 'A2',
  demands:
    'Every variant has BANDWIDTH, AVERAGE-BANDWIDTH and CODECS, with a picture also RESOLUTION, best FRAME-RATE too; they are those of its files. Audio and video are in separate files.',
  source: `${sources.podcasts}; ${sources.rfc('4.3.4.2')}`,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    for (const variant of presentation.main.variants) {
      const where = lineOf(presentation.where, variant.line);
      const { attributes } = variant;
      for (const name of [...variantAttributes, ...(hasVideoCodec(attributes) ? ['RESOLUTION'] : [])])
        if (!attributes.has(name)) yield failure(where, `The variant has no ${name}. Add it.`);
      if (isVideo(variant) && !attributes.has('FRAME-RATE'))
        yield warning(where, 'The variant has no FRAME-RATE. Add it.');
      if (hasVideoCodec(attributes) && groupOf(presentation, variant, 'AUDIO').length === 0)
        yield failure(
          where,
          hasAudioCodec(attributes)
            ? 'The variant has audio and video in one file. Put the audio into files of its own, and name their group with AUDIO.'
            : 'The variant has a picture and no sound. Name a group of audio with AUDIO, and its format in CODECS.',
        );
      yield* checkDeclared(presentation, variant, where);
    }
  },
};

const audioVariant: Rule = {
  id: 'A2',
  demands: 'A variant has audio only, for downloads and for the locked screen.',
  source: sources.podcasts,
  general: 'warning',
  inAds: false,
  *check({ main, where }) {
    if (main.variants.every(isVideo))
      yield failure(where, 'No variant has audio only. Add an EXT-X-STREAM-INF that names the audio playlist.');
  },
};

const ladder: Rule = {
  id: 'A2',
  demands: 'There is video of 1080p and of 720p, and best also of 480p or 360p.',
  source: sources.podcasts,
  general: 'off',
  inAds: false,
  *check({ main, where }) {
    const sizes = main.variants.flatMap((variant) => resolutionOf(variant) ?? []);
    if (!main.variants.some(isVideo)) {
      yield failure(
        where,
        'No variant has video. Apple Podcasts takes audio from the enclosure of the feed; add 1080p and 720p, or leave HLS to other apps.',
      );
      return;
    }
    // Pictures that are wider than 16:9, or upright, have another height.
    const has = (lines: number) =>
      sizes.some(({ width, height }) => Math.min(width, height) === lines || width === (lines * 16) / 9);
    for (const lines of [1080, 720]) if (!has(lines)) yield failure(where, `No variant has ${lines}p. Add one.`);
    if (![480, 360].some(has)) yield warning(where, 'No variant is for slow connections. Add 480p or 360p.');
  },
};

const renditionAttributes: Readonly<Record<string, readonly string[]>> = {
  'CLOSED-CAPTIONS': ['GROUP-ID', 'NAME', 'LANGUAGE', 'INSTREAM-ID'],
};

const renditions: Rule = {
  id: 'A3',
  demands:
    'EXT-X-MEDIA has TYPE, GROUP-ID, NAME, URI and LANGUAGE; groups of a type have renditions of the same names.',
  source: `${sources.podcasts}; ${sources.rfc('4.3.4.1')}`,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    const { main, where } = presentation;
    for (const { attributes, line } of main.renditions)
      for (const name of renditionAttributes[plainOf(attributes, 'TYPE') ?? ''] ?? [
        'TYPE',
        'GROUP-ID',
        'NAME',
        'URI',
        'LANGUAGE',
      ])
        if (!attributes.has(name)) yield failure(lineOf(where, line), `The rendition has no ${name}. Add it.`);
    for (const type of ['AUDIO', 'VIDEO', 'SUBTITLES']) {
      const groups = Map.groupBy(renditionsOf(presentation, type), (tag) => quotedOf(tag.attributes, 'GROUP-ID'));
      const names = [...groups.values()].map((group) =>
        group
          .map((tag) => quotedOf(tag.attributes, 'NAME') ?? '')
          .sort()
          .join(', '),
      );
      if (new Set(names).size > 1)
        yield failure(
          where,
          `The groups of ${type} have different names: ${[...new Set(names)].join(' | ')}. Give every group the same.`,
        );
      for (const variant of main.variants) {
        const group = quotedOf(variant.attributes, type);
        if (group !== undefined && !groups.has(group))
          yield failure(
            lineOf(where, variant.line),
            `The group “${group}” of ${type} is not there. Add an EXT-X-MEDIA with it.`,
          );
      }
    }
  },
};

const iframes: Rule = {
  id: 'A4',
  demands: 'There is a playlist of I-frames, best with 2 pictures a second, at most 8.',
  source: sources.podcasts,
  general: 'off',
  inAds: false,
  *check(presentation) {
    const { main, where } = presentation;
    if (main.iframes.length === 0)
      yield failure(
        where,
        'There is no playlist of I-frames, which people see while they scrub. Add EXT-X-I-FRAME-STREAM-INF.',
      );
    for (const tag of main.iframes) {
      const media = mediaOfTag(presentation, tag);
      if (!media) continue;
      const { segments, lengthSeconds, isIFramesOnly } = media.playlist;
      const rate = segments.length / lengthSeconds;
      const says = `The playlist has ${Number(rate.toFixed(2))} pictures a second`;
      if (!isIFramesOnly)
        yield failure(media.where, 'The playlist is not declared as I-frames. Write #EXT-X-I-FRAMES-ONLY.');
      if (rate > 8.05) yield failure(media.where, `${says}. Leave some out: 8 are the most, 2 are best.`);
      else if (rate < 1.8) yield warning(media.where, `${says}. Encode a track of I-frames with 2 a second.`);
    }
  },
};

const captionsDeclared: Rule = {
  id: 'A11',
  demands: 'Every variant says CLOSED-CAPTIONS=NONE, above all where there are no subtitles.',
  source: sources.podcasts,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    const { main, where } = presentation;
    const hasText = ['SUBTITLES', 'CLOSED-CAPTIONS'].some((type) => renditionsOf(presentation, type).length > 0);
    for (const { attributes, line } of main.variants)
      if (!attributes.has('CLOSED-CAPTIONS'))
        yield (hasText ? warning : failure)(
          lineOf(where, line),
          'The variant does not say that it has no closed captions inside its video. Add CLOSED-CAPTIONS=NONE.',
        );
  },
};

export const variantRules: readonly Rule[] = [
  declarations,
  audioVariant,
  ladder,
  renditions,
  iframes,
  captionsDeclared,
];
