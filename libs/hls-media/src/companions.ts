import { renderTranscript, type Transcript } from '@longwave/transcript';
import type { ScheduledBreak } from './break-schedule.ts';
import type { DateRange } from './date-ranges.ts';

/**
 * One file of captions: the cues that are shown between two times of the presentation, at their whole times. A cue that reaches into the
 * next file stands in both. Without cues it is a head only.
 * @param contentStartMs length of the intro: cues count from the beginning of the episode's own audio
 */
export function renderCaptions(transcript: Transcript, contentStartMs: number, fromMs: number, toMs: number): string {
  const cues = transcript.cues.filter(
    (cue) => cue.start_ms + contentStartMs < toMs && cue.end_ms + contentStartMs > fromMs,
  );
  const text = renderTranscript('vtt', { ...transcript, cues }, contentStartMs);
  return text.replace('WEBVTT\n', 'WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0\n');
}

/** A chapter at the times of the episode's own audio. */
export interface Chapter {
  readonly start_ms: number;
  readonly end_ms?: number | undefined;
  readonly title: string;
  /** False: it is not listed. */
  readonly toc?: boolean | undefined;
}

/**
 * The listed chapters as Apple's players read them (`com.apple.hls.chapters`). Interstitials do not move the time of the content, so they
 * hold for every listener. Pictures are left out: the format asks for their sizes.
 * @param contentStartMs length of the intro
 */
export const renderChapters = (chapters: readonly Chapter[], language: string, contentStartMs: number): string =>
  JSON.stringify(
    chapters
      .filter(({ toc }) => toc !== false)
      .map(({ start_ms, end_ms, title }, index) => ({
        chapter: index + 1,
        'start-time': (start_ms + contentStartMs) / 1000,
        ...(end_ms !== undefined && end_ms > start_ms && { duration: (end_ms - start_ms) / 1000 }),
        titles: [{ language, title }],
      })),
  );

/** An ad as a player gets it. */
export interface Asset {
  /** Absolute, of its multivariant playlist. */
  readonly uri: string;
  /** Length of its sound; pictures may be a frame longer. */
  readonly ticks: number;
  readonly timescale: number;
}

/** The asset list of one break (draft-pantos-hls-rfc8216bis, appendix D.2). Without ads, the content goes on. */
export const renderAssetList = (ads: readonly Asset[]): string =>
  JSON.stringify({
    ASSETS: ads.map(({ uri, ticks, timescale }) => ({ URI: uri, DURATION: Number((ticks / timescale).toFixed(5)) })),
  });

interface Span {
  readonly start_ms: number;
  readonly duration_ms: number;
}

/** What plays when, in the time of the presentation. After each break the content goes on where it stopped. */
export interface PresentationTimeline {
  readonly version: 1;
  readonly duration_ms: number;
  /** The content between the breaks, in order and without a gap. */
  readonly primary: readonly Span[];
  /** The breaks: the objects of a schedule of date ranges (draft-pantos-hls-rfc8216bis, appendix H). */
  readonly DATERANGES: readonly DateRange[];
}

/** The timeline of a play; `dateRanges` are those of its playlists. */
export function presentationTimeline(
  durationMs: number,
  schedule: readonly ScheduledBreak[],
  dateRanges: readonly DateRange[],
): PresentationTimeline {
  const duration_ms = Math.round(durationMs);
  const cuts = new Set([0, ...schedule.filter(({ position }) => position === 'mid').map(({ startMs }) => startMs)]);
  const starts = [...cuts].sort((a, b) => a - b);
  const primary = starts.map((start_ms, index) => ({
    start_ms,
    duration_ms: (starts[index + 1] ?? duration_ms) - start_ms,
  }));
  return { version: 1, duration_ms, primary, DATERANGES: dateRanges };
}
