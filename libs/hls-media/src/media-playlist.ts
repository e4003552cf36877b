import { breakCells, type ScheduledBreak } from './break-schedule.ts';
import type { CellIndex } from './cell-index.ts';
import { programDateTime, renderDateRange, type DateRange } from './date-ranges.ts';
import { segmentsOf, targetSeconds, type Segment } from './segments.ts';
import { lines, quoted, uriText } from './tag.ts';

/** A media playlist but for its date ranges, which name the play. Equal for everybody who has the same schedule, so it may be kept. */
export interface MediaPlaylist {
  readonly head: string;
  readonly body: string;
}

const head = (kind: 'INDEPENDENT-SEGMENTS' | 'I-FRAMES-ONLY') =>
  lines(
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${targetSeconds}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    `#EXT-X-${kind}`,
  );

const dateTime = `#EXT-X-PROGRAM-DATE-TIME:${programDateTime}`;
const end = '#EXT-X-ENDLIST';

const duration = (ticks: number, timescale: number) => `#EXTINF:${(ticks / timescale).toFixed(5)},`;

/** Byte ranges of one file. */
const rangesBody = (file: string, { init, timescale }: CellIndex, segments: readonly Segment[]) => {
  const uri = uriText(file);
  return lines(
    `#EXT-X-MAP:URI=${quoted(uri)},BYTERANGE="${init}@0"`,
    dateTime,
    ...segments.flatMap((segment) => [
      duration(segment.duration, timescale),
      `#EXT-X-BYTERANGE:${segment.length}@${segment.offset}`,
      uri,
    ]),
    end,
  );
};

/**
 * The playlist of a track of sound or pictures. Throws `RangeError` for an address that `uriText` refuses.
 * @param uri of the track's file, from the playlist
 */
export const mediaPlaylist = (
  uri: string,
  track: CellIndex,
  schedule: readonly ScheduledBreak[] = [],
): MediaPlaylist => ({
  head: head('INDEPENDENT-SEGMENTS'),
  body: rangesBody(uri, track, segmentsOf(track, breakCells(track, schedule))),
});

/** The playlist of a track each of whose cells is one picture, for seeking. */
export const iFramePlaylist = (uri: string, track: CellIndex): MediaPlaylist => ({
  head: head('I-FRAMES-ONLY'),
  body: rangesBody(
    uri,
    track,
    track.cells.map(([offset, length, start, ticks]) => ({ offset, length, start, duration: ticks })),
  ),
});

/** The playlist of captions: one file for each segment of the sound, named by its number from 1 (`renderCaptions`). */
export const subtitlePlaylist = (audio: CellIndex, schedule: readonly ScheduledBreak[] = []): MediaPlaylist => ({
  head: head('INDEPENDENT-SEGMENTS'),
  body: lines(
    dateTime,
    ...segmentsOf(audio, breakCells(audio, schedule)).flatMap((segment, index) => [
      duration(segment.duration, audio.timescale),
      `${index + 1}.vtt`,
    ]),
    end,
  ),
});

/** The text of a playlist. Every playlist of a play has the same date ranges. */
export const renderMediaPlaylist = ({ head: before, body }: MediaPlaylist, dateRanges: readonly DateRange[] = []) =>
  before + lines(...dateRanges.map(renderDateRange)) + body;
