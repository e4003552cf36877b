/** The rules of Apple Podcasts have the numbers of docs/hls-check.md; the others have names. */
export type RuleId =
  | 'reachable'
  | 'syntax'
  | 'A1'
  | 'A2'
  | 'A3'
  | 'A4'
  | 'A5'
  | 'A6'
  | 'A7'
  | 'A8'
  | 'A9'
  | 'A10'
  | 'A11'
  | 'A12'
  | 'A14'
  | 'equal-date-ranges'
  | 'equal-lengths'
  | 'equal-targets'
  | 'segment-lengths'
  | 'whole-fragments'
  | 'segment-times'
  | 'one-track'
  | 'no-edit-list'
  | 'average-rate'
  | 'peak-rate'
  | 'asset-list'
  | 'break-at-segment'
  | 'captions'
  | 'chapters'
  | 'media-type';

/** `failure`: players or Apple Podcasts will not do what the podcaster expects. `warning`: they do, but something is better. */
export type Level = 'failure' | 'warning';

/** What a rule has against a place. */
export interface Issue {
  readonly level: Level;
  /** The playlist as the multivariant playlist names it, or the break, with the line: “720p/media.m3u8, line 12”. */
  readonly where: string;
  /** What is wrong and what to do about it, in plain sentences. */
  readonly message: string;
}

export interface Finding extends Issue {
  readonly rule: RuleId;
}

export const failure = (where: string, message: string): Issue => ({ level: 'failure', where, message });
export const warning = (where: string, message: string): Issue => ({ level: 'warning', where, message });

/** A line of a playlist. */
export const lineOf = (where: string, line: number): string => `${where}, line ${line}`;
