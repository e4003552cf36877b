import { numberOf, plainOf, quotedOf, type Attributes } from '../attributes.ts';
import { failure, lineOf, warning, type Issue } from '../finding.ts';
import { parseDate } from '../parse-media-playlist.ts';
import type { DateRangeTag } from '../playlist.ts';
import type { Presentation } from '../presentation.ts';
import { allMedia, isInterstitial, playedMedia, referenceMedia, seconds } from '../tracks.ts';
import { sources, type Rule } from './rule.ts';

const dayMs = 86_400_000;

/** Every date range once, with the place where it stands first. */
function distinctDateRanges(
  presentation: Presentation,
): readonly { readonly where: string; readonly tag: DateRangeTag }[] {
  const found = new Map<string, { where: string; tag: DateRangeTag }>();
  for (const { where, playlist } of allMedia(presentation))
    for (const tag of playlist.dateRanges)
      if (!found.has(tag.text)) found.set(tag.text, { where: lineOf(where, tag.line), tag });
  return [...found.values()];
}

const dateOf = (attributes: Attributes, name: string) => parseDate(quotedOf(attributes, name) ?? '');

const dates: Rule = {
  id: 'A6',
  demands:
    'Playlists with date ranges say which date their first segment has: not 1970, not the time of the request, and all the same.',
  source: sources.podcasts,
  general: 'warning',
  inAds: true,
  *check(presentation, { checkedAt }) {
    const first = allMedia(presentation).find(({ playlist }) => playlist.startsAt !== undefined);
    for (const { where, playlist } of allMedia(presentation)) {
      const date = playlist.startsAt;
      if (date === undefined) {
        if (playlist.dateRanges.length > 0)
          yield failure(
            where,
            'The playlist has date ranges and no date. Write #EXT-X-PROGRAM-DATE-TIME before the first segment.',
          );
        continue;
      }
      const say = new Date(date).toISOString();
      if (say.startsWith('1970-'))
        yield failure(where, `The first segment has the date ${say}. Take a later year, as 2020-01-01T00:00:00.000Z.`);
      else if (Math.abs(date - checkedAt) < dayMs)
        yield warning(
          where,
          `The first segment has the date ${say}, the time of this check. Take a date that never changes, as 2020-01-01T00:00:00.000Z.`,
        );
      if (date !== first!.playlist.startsAt)
        yield failure(
          where,
          `The first segment has the date ${say}, in ${first!.where} it has another. Give all the same.`,
        );
    }
  },
};

/** The only values that Apple Podcasts takes. */
const demanded = [
  { name: 'X-TIMELINE-OCCUPIES', value: 'RANGE' },
  { name: 'X-TIMELINE-STYLE', value: 'PRIMARY' },
];

function* checkInterstitial(where: string, attributes: Attributes): Generator<Issue> {
  if (quotedOf(attributes, 'CLASS') !== 'com.apple.hls.interstitial')
    yield failure(where, 'The break is not declared as one. Write CLASS="com.apple.hls.interstitial".');
  if (dateOf(attributes, 'START-DATE') === undefined)
    yield failure(where, 'The break has no date. Write START-DATE="…", as 2020-01-01T00:01:00.000Z.');
  if (attributes.has('X-ASSET-URI') === attributes.has('X-ASSET-LIST'))
    yield failure(where, 'The break must have either X-ASSET-LIST or X-ASSET-URI.');
  if (numberOf(attributes, 'X-RESUME-OFFSET') !== 0)
    yield failure(where, 'The content must go on where it stopped. Write X-RESUME-OFFSET=0.');
  for (const { name, value } of demanded)
    if (quotedOf(attributes, name) !== value)
      yield failure(where, `The break has another ${name}, or none. Write ${name}="${value}".`);
  for (const name of ['X-RESTRICT', 'X-DEBUG'])
    if (attributes.has(name)) yield failure(where, `${name} is not allowed. Take it away.`);
  const cue = quotedOf(attributes, 'CUE') ?? plainOf(attributes, 'CUE');
  if (cue !== undefined && cue !== 'POST')
    yield failure(
      where,
      `CUE is “${cue}”. A break after the content has CUE="POST"; every other has a START-DATE and no CUE.`,
    );
  if (cue === undefined && !attributes.has('X-SNAP'))
    yield warning(where, 'The break may begin in the middle of a segment. Write X-SNAP="OUT,IN".');
}

const interstitials: Rule = {
  id: 'A7',
  demands:
    'Breaks are interstitials that resume at offset 0 and show as ranges of the primary timeline, without restrictions.',
  source: `${sources.podcasts}; ${sources.interstitials}`,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    for (const { where, tag } of distinctDateRanges(presentation)) {
      if (!isInterstitial(tag.attributes)) continue;
      if (presentation.isAd) yield warning(where, 'A break inside an ad is ignored. Take it away.');
      else yield* checkInterstitial(where, tag.attributes);
    }
  },
};

const positions: Rule = {
  id: 'A9',
  demands: 'No date range begins outside the stream or within 2 s of its end, or ends after it.',
  source: sources.podcasts,
  general: 'warning',
  inAds: false,
  *check(presentation) {
    const reference = referenceMedia(presentation)?.playlist;
    if (reference?.startsAt === undefined) return;
    const { startsAt, lengthSeconds } = reference;
    for (const { where, tag } of distinctDateRanges(presentation)) {
      const { attributes } = tag;
      const date = dateOf(attributes, 'START-DATE');
      if (date === undefined) continue;
      const start = (date - startsAt) / 1000;
      if (start < 0 || start > lengthSeconds)
        yield failure(
          where,
          `The date range begins at ${seconds(start)}, and the stream goes from 0 to ${seconds(lengthSeconds)}. Move it inside.`,
        );
      else if (lengthSeconds - start < 2)
        yield failure(
          where,
          `The date range begins ${seconds(lengthSeconds - start)} before the end. Begin it 2 s before the end at least.`,
        );
      const endDate = dateOf(attributes, 'END-DATE');
      const duration = numberOf(attributes, 'DURATION') ?? numberOf(attributes, 'PLANNED-DURATION');
      const end = endDate === undefined ? start + (duration ?? 0) : (endDate - startsAt) / 1000;
      if (start <= lengthSeconds && end > lengthSeconds + 0.001)
        yield failure(
          where,
          `The date range ends at ${seconds(end)}, after the stream of ${seconds(lengthSeconds)}. Leave its duration out, or make it shorter.`,
        );
    }
  },
};

const equalDateRanges: Rule = {
  id: 'equal-date-ranges',
  demands:
    'Every media playlist has the same date ranges in the same order, byte for byte, each with an ID of its own.',
  source: sources.interstitials,
  general: 'same',
  inAds: false,
  *check(presentation) {
    const reference = referenceMedia(presentation);
    if (!reference) return;
    const lines = reference.playlist.dateRanges.map(({ text }) => text);
    for (const { where, playlist } of allMedia(presentation)) {
      const { dateRanges } = playlist;
      const place = dateRanges.findIndex(({ text }, index) => text !== lines[index]);
      if (place < 0 && dateRanges.length === lines.length) continue;
      const at = place < 0 ? where : lineOf(where, dateRanges[place]!.line);
      yield failure(
        at,
        `The date ranges are not those of ${reference.where}. Write the same lines in the same order into every playlist.`,
      );
    }
    const ids = new Set<string | undefined>();
    for (const { attributes, line } of reference.playlist.dateRanges) {
      const id = quotedOf(attributes, 'ID');
      if (ids.has(id))
        yield failure(
          lineOf(reference.where, line),
          `The ID “${id}” stands there twice. Give each date range an ID of its own.`,
        );
      ids.add(id);
    }
  },
};

/** Seconds that a break may be away from the boundary: an audio frame and a picture do not end together. */
const boundaryTolerance = 0.05;

const breakAtSegment: Rule = {
  id: 'break-at-segment',
  demands: 'A break that is not at the end stands within 50 ms of the beginning of a segment of audio and of video.',
  source: sources.longwave,
  general: 'same',
  inAds: false,
  *check(presentation) {
    for (const { tag } of distinctDateRanges(presentation)) {
      const date = dateOf(tag.attributes, 'START-DATE');
      if (date === undefined || !isInterstitial(tag.attributes) || tag.attributes.has('CUE')) continue;
      for (const { where, playlist } of playedMedia(presentation)) {
        if (playlist.startsAt === undefined) continue;
        const start = (date - playlist.startsAt) / 1000;
        if (start < 0 || start > playlist.lengthSeconds) continue;
        const distance = playlist.segments.reduce(
          (least, { startSeconds }) => Math.min(least, Math.abs(startSeconds - start)),
          Infinity,
        );
        if (distance > boundaryTolerance + 1e-6)
          yield warning(
            where,
            `The break “${quotedOf(tag.attributes, 'ID')}” is ${seconds(distance)} away from the beginning of a segment. Begin a segment there, or move the break.`,
          );
      }
    }
  },
};

export const dateRangeRules: readonly Rule[] = [dates, interstitials, positions, equalDateRanges, breakAtSegment];
