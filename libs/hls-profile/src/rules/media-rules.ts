import { failure, lineOf, warning, type Issue } from '../finding.ts';
import type { Track } from '../mp4/init-section.ts';
import type { MediaRead, SegmentRead } from '../presentation.ts';
import { allMedia, playedMedia, referenceMedia, seconds } from '../tracks.ts';
import { sources, type Rule } from './rule.ts';

const placeOf = ({ where, playlist }: MediaRead, { index }: SegmentRead) =>
  lineOf(where, playlist.segments[index]!.line);

function* checkFormat(where: string, { kind, entry }: Track): Generator<Issue> {
  if (!entry) return;
  const { codec, sampleRate, channels } = entry;
  if (kind === 'audio') {
    if (codec !== 'mp4a.40.2') yield failure(where, `The audio is ${codec}. Encode AAC-LC (mp4a.40.2).`);
    if (sampleRate !== 48_000) yield warning(where, `The audio has ${sampleRate} samples a second. Encode with 48000.`);
    if (channels !== 2)
      yield warning(where, `The audio has ${channels} channel${channels === 1 ? '' : 's'}. Encode stereo.`);
  }
  if (kind === 'video' && !/^(avc1|hvc1)/.test(codec))
    yield failure(where, `The video is ${codec}. Encode H.264 (avc1) or HEVC (hvc1).`);
}

/** Seconds from one keyframe to the next, or to the end of the segment. */
function longestGap({ media, init }: SegmentRead): number {
  const timescale = init?.tracks[0]?.timescale ?? 0;
  const { fragments = [] } = media ?? {};
  const last = fragments.at(-1);
  let [gap, before] = [0, fragments[0]?.syncTimes[0] ?? 0];
  for (const time of [
    ...fragments.flatMap(({ syncTimes }) => syncTimes),
    last ? last.decodeTime + last.duration : before,
  ]) {
    gap = Math.max(gap, time - before);
    before = time;
  }
  return gap / timescale;
}

const formats: Rule = {
  id: 'A12',
  demands:
    'Audio is AAC-LC, best stereo with 48 kHz; video is H.264 or HEVC, and every segment begins with a keyframe, at most 6 s before the next.',
  source: sources.podcasts,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    for (const media of allMedia(presentation)) {
      for (const { tracks } of media.inits) for (const track of tracks) yield* checkFormat(media.where, track);
      if (media.kind !== 'video') continue;
      for (const segment of media.segments) {
        const [first] = segment.media?.fragments ?? [];
        if (!first) continue;
        if (first.syncTimes[0] !== first.decodeTime)
          yield failure(
            placeOf(media, segment),
            'The segment does not begin with a keyframe. Force one at every beginning of a segment.',
          );
        else if (longestGap(segment) > 6.05)
          yield warning(
            placeOf(media, segment),
            `Keyframes are ${seconds(longestGap(segment))} apart. Put one every 2 to 6 s.`,
          );
      }
    }
  },
};

const wholeFragments: Rule = {
  id: 'whole-fragments',
  demands: 'A segment is a run of whole fragments (moof and mdat); the bytes of an I-frame hold its whole picture.',
  source: `${sources.rfc('3.3')}; ${sources.mp4}`,
  general: 'same',
  inAds: true,
  *check(presentation) {
    for (const media of allMedia(presentation))
      for (const segment of media.segments) {
        if (!segment.media) continue;
        const { notWhole, fragments } = segment.media;
        if (media.kind !== 'iframes') {
          if (notWhole !== undefined)
            yield failure(
              placeOf(media, segment),
              `The segment is no run of whole fragments: ${notWhole}. Cut where a “moof” begins.`,
            );
        } else if (!fragments[0] || fragments[0].firstSampleEnd > segment.sizeBytes)
          yield failure(
            placeOf(media, segment),
            'The bytes do not hold a whole picture. Take those from its “moof” to the end of its first sample.',
          );
      }
  },
};

const oneTrack: Rule = {
  id: 'one-track',
  demands: 'A file has one track.',
  source: sources.mp4,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    for (const { where, inits } of allMedia(presentation))
      for (const { tracks } of inits)
        if (tracks.length !== 1)
          yield failure(
            where,
            `The initialization section has ${tracks.length} tracks. Put each into a file of its own.`,
          );
  },
};

const noEditList: Rule = {
  id: 'no-edit-list',
  demands: 'No edit list moves the media: players that ignore it play early or late.',
  source: sources.longwave,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    for (const { where, kind, inits } of playedMedia(presentation))
      if (inits.some(({ tracks }) => tracks.some(({ hasEdit }) => hasEdit)))
        yield failure(
          where,
          `An edit list moves the media, and some players ignore it. Write the media without one${kind === 'audio' ? '; of AAC drop the first frame' : ''}.`,
        );
  },
};

/** Seconds that times of the media may differ from those of the playlist. */
const timeTolerance = 0.05;

/** Where a segment begins by its media, in seconds; undefined when that was not read. */
function startOf({ media, init }: SegmentRead): number | undefined {
  const [first] = media?.fragments ?? [];
  const timescale = init?.tracks.find(({ id }) => id === first?.trackId)?.timescale;
  return first && timescale ? first.decodeTime / timescale : undefined;
}

function lengthOf({ media, init }: SegmentRead): number {
  const sum = media!.fragments.reduce((total, { duration }) => total + duration, 0);
  return sum / (init!.tracks[0]!.timescale || 1);
}

/** The rule on one playlist; `beginning` is where the media of the whole presentation begins. */
function* checkTimes(media: MediaRead, beginning: number): Generator<Issue> {
  const discontinuity = media.playlist.segments.findIndex(({ isDiscontinuity }) => isDiscontinuity);
  for (const read of media.segments) {
    const start = startOf(read);
    if (start === undefined || read.init!.tracks.length !== 1) continue;
    const segment = media.playlist.segments[read.index]!;
    const late = start - beginning - segment.startSeconds;
    if ((discontinuity < 0 || read.index < discontinuity) && Math.abs(late) > timeTolerance)
      yield failure(
        placeOf(media, read),
        `The media of the segment begins ${seconds(Math.abs(late))} ${late > 0 ? 'after' : 'before'} the time of the playlist. Write the real durations into EXTINF.`,
      );
    const longer = lengthOf(read) - segment.durationSeconds;
    if (Math.abs(longer) > timeTolerance)
      yield failure(
        placeOf(media, read),
        `The media of the segment is ${seconds(Math.abs(longer))} ${longer > 0 ? 'longer' : 'shorter'} than EXTINF. Write its real duration.`,
      );
  }
}

const segmentTimes: Rule = {
  id: 'segment-times',
  demands: 'The times of the media are those of the playlist, within 50 ms.',
  source: `${sources.rfc('4.3.2.1')}; ${sources.longwave}`,
  general: 'same',
  inAds: true,
  *check(presentation) {
    const first = referenceMedia(presentation)?.segments.find(({ index }) => index === 0);
    const beginning = (first && startOf(first)) ?? 0;
    for (const media of playedMedia(presentation)) yield* checkTimes(media, beginning);
  },
};

export const mediaRules: readonly Rule[] = [formats, wholeFragments, oneTrack, noEditList, segmentTimes];
