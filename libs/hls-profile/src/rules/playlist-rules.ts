import { failure, lineOf, warning } from '../finding.ts';
import { allMedia, playedMedia, referenceMedia, seconds } from '../tracks.ts';
import { sources, type Rule } from './rule.ts';

const versions: Rule = {
  id: 'A1',
  demands:
    'The multivariant playlist has version 4 or higher, media playlists 7 or higher; all are finished recordings (VOD).',
  source: sources.podcasts,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    const { main, where } = presentation;
    if ((main.version ?? 1) < 4) yield failure(where, 'The version is below 4. Write #EXT-X-VERSION:7.');
    for (const { where: at, playlist } of allMedia(presentation)) {
      if ((playlist.version ?? 1) < 7) yield failure(at, 'The version is below 7. Write #EXT-X-VERSION:7.');
      if (playlist.playlistType !== 'VOD')
        yield failure(at, 'The playlist is not declared as a recording. Write #EXT-X-PLAYLIST-TYPE:VOD.');
      if (!playlist.hasEndList)
        yield failure(
          at,
          'The playlist has no end, so players take it for a live stream. Write #EXT-X-ENDLIST after the last segment.',
        );
    }
  },
};

const targets: Rule = {
  id: 'A5',
  demands: 'The target duration is 4 to 10 s, best 6 s.',
  source: sources.podcasts,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    for (const { where, playlist } of allMedia(presentation)) {
      const target = playlist.targetSeconds;
      if (target === undefined || target === 6) continue;
      const message = `The target duration is ${target} s. Make segments of about 6 s.`;
      yield target < 4 || target > 10 ? failure(where, message) : warning(where, message);
    }
  },
};

const equalTargets: Rule = {
  id: 'equal-targets',
  demands: 'All audio and video playlists have the same target duration.',
  source: sources.rfc('6.2.4'),
  general: 'same',
  inAds: true,
  *check(presentation) {
    const reference = referenceMedia(presentation);
    for (const { where, playlist } of playedMedia(presentation))
      if (playlist.targetSeconds !== reference?.playlist.targetSeconds)
        yield failure(
          where,
          `The target duration is ${playlist.targetSeconds} s, that of ${reference?.where} ${reference?.playlist.targetSeconds} s. Give all the same.`,
        );
  },
};

const segmentLengths: Rule = {
  id: 'segment-lengths',
  demands: 'No segment is longer than the target duration, rounded.',
  source: sources.rfc('4.3.3.1'),
  general: 'same',
  inAds: true,
  *check(presentation) {
    for (const { where, playlist } of allMedia(presentation)) {
      const target = playlist.targetSeconds ?? Infinity;
      const long = playlist.segments.filter(({ durationSeconds }) => Math.round(durationSeconds) > target);
      const [first] = long;
      if (first)
        yield failure(
          lineOf(where, first.line),
          `The segment is ${seconds(first.durationSeconds)} long, the target duration ${target} s${long.length > 1 ? `; so are ${long.length - 1} more` : ''}. Make segments shorter, or the target longer.`,
        );
    }
  },
};

/** Seconds that a playlist may be shorter or longer than the audio: I-frames end with a picture, which may stand for half a second. */
const lengthTolerance = { audio: 0.05, video: 0.05, subtitles: 0.05, iframes: 1 } as const;

const equalLengths: Rule = {
  id: 'equal-lengths',
  demands: 'All playlists are equally long: ±50 ms, I-frames ±1 s.',
  source: `${sources.authoring}; ${sources.longwave}`,
  general: 'warning',
  inAds: true,
  *check(presentation) {
    const reference = referenceMedia(presentation);
    if (!reference) return;
    const length = reference.playlist.lengthSeconds;
    for (const { where, kind, playlist } of allMedia(presentation))
      if (Math.abs(playlist.lengthSeconds - length) > lengthTolerance[kind] + 1e-6)
        yield failure(
          where,
          `The playlist is ${seconds(playlist.lengthSeconds)} long, ${reference.where} ${seconds(length)}. Make them end together.`,
        );
  },
};

export const playlistRules: readonly Rule[] = [versions, targets, equalTargets, segmentLengths, equalLengths];
