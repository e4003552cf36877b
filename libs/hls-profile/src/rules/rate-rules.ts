import { numberOf } from '../attributes.ts';
import { failure, lineOf } from '../finding.ts';
import type { Variant } from '../playlist.ts';
import type { MediaRead, Presentation } from '../presentation.ts';
import { groupOf, mediaOfTag } from '../tracks.ts';
import { sources, type Rule } from './rule.ts';

/** Bits a second of one playlist. */
interface Rates {
  readonly average: number;
  readonly peak: number;
}

/** The sizes of all segments, from their byte ranges or because each was read; undefined when one is not known. */
function sizesOf({ playlist, segments }: MediaRead): readonly number[] | undefined {
  const read = new Map(segments.map(({ index, sizeBytes }) => [index, sizeBytes]));
  const sizes = playlist.segments.map(({ range }, index) => range?.length ?? read.get(index));
  return sizes.every((size) => size !== undefined) && sizes.length > 0 ? sizes : undefined;
}

/** The peak is that of any run of segments that lasts 0.5 to 1.5 target durations (RFC 8216 §4.1). */
function ratesOf(media: MediaRead): Rates | undefined {
  const sizes = sizesOf(media);
  const { segments, lengthSeconds, targetSeconds = 6 } = media.playlist;
  if (!sizes || lengthSeconds === 0) return undefined;
  const average = (sizes.reduce((total, size) => total + size, 0) * 8) / lengthSeconds;
  let peak = 0;
  for (const first of segments.keys()) {
    let [bytes, time] = [0, 0];
    for (let at = first; at < segments.length && time <= 1.5 * targetSeconds; at += 1) {
      bytes += sizes[at]!;
      time += segments[at]!.durationSeconds;
      if (time >= 0.5 * targetSeconds && time <= 1.5 * targetSeconds) peak = Math.max(peak, (bytes * 8) / time);
    }
  }
  return { average, peak: peak || average };
}

/** The rates of a variant with the largest rendition of its audio; undefined when one or a size is not known. */
function ratesOfVariant(presentation: Presentation, variant: Variant): Rates | undefined {
  const own = presentation.media.get(variant.uri);
  const audio = groupOf(presentation, variant, 'AUDIO').flatMap((tag) => mediaOfTag(presentation, tag) ?? []);
  const rates = own && ratesOf(own);
  if (variant.attributes.has('AUDIO') && audio.length === 0) return undefined;
  // A variant of audio only names the playlist of its group.
  const others = audio.includes(own!) ? [] : audio.map(ratesOf);
  if (!rates || others.includes(undefined)) return undefined;
  const largest = (of: (each: Rates) => number) => Math.max(0, ...others.map((each) => of(each!)));
  return {
    average: rates.average + largest(({ average }) => average),
    peak: rates.peak + largest(({ peak }) => peak),
  };
}

const averageRate: Rule = {
  id: 'average-rate',
  demands: 'AVERAGE-BANDWIDTH is the measured rate of the variant with its audio, within 10 %.',
  source: `${sources.rfc('4.3.4.2')}; ${sources.authoring}`,
  general: 'same',
  inAds: true,
  *check(presentation) {
    for (const variant of presentation.main.variants) {
      const declared = numberOf(variant.attributes, 'AVERAGE-BANDWIDTH');
      const measured = ratesOfVariant(presentation, variant)?.average;
      if (declared !== undefined && measured !== undefined && Math.abs(declared - measured) > measured * 0.1)
        yield failure(
          lineOf(presentation.where, variant.line),
          `AVERAGE-BANDWIDTH is ${declared}, and the files have ${Math.round(measured)} bits a second. Write that.`,
        );
    }
  },
};

const peakRate: Rule = {
  id: 'peak-rate',
  demands: 'BANDWIDTH is no less than the measured peak of the variant with its audio, but for 10 %.',
  source: `${sources.authoring}; ${sources.rfc('4.3.4.2')}`,
  general: 'same',
  inAds: true,
  *check(presentation) {
    for (const variant of presentation.main.variants) {
      const declared = numberOf(variant.attributes, 'BANDWIDTH');
      const measured = ratesOfVariant(presentation, variant)?.peak;
      if (declared !== undefined && measured !== undefined && measured > declared * 1.1)
        yield failure(
          lineOf(presentation.where, variant.line),
          `BANDWIDTH is ${declared}, and the files have up to ${Math.round(measured)} bits a second. Write that.`,
        );
    }
  },
};

export const rateRules: readonly Rule[] = [averageRate, peakRate];
