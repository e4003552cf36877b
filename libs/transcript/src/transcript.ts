/** One piece of speech. Times are milliseconds of the episode's own audio; `end_ms` is after `start_ms`. */
export interface TranscriptCue {
  readonly start_ms: number;
  readonly end_ms: number;
  /** One line. */
  readonly speaker?: string;
  /** Plain text: trimmed lines, none of them empty, no markup. */
  readonly text: string;
}

/** A transcript without any format's peculiarities; cues are sorted by their start. Stored as it is, as JSON. */
export interface Transcript {
  readonly version: 1;
  readonly cues: readonly TranscriptCue[];
}

export const transcriptFormats = ['vtt', 'srt', 'json'] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

/** Content type of each format as feeds name it (Podcasting 2.0, tag transcript). */
export const transcriptContentTypes: Readonly<Record<TranscriptFormat, string>> = {
  vtt: 'text/vtt',
  srt: 'application/x-subrip',
  json: 'application/json',
};

/** Bounds of a document: a word-by-word transcript of a whole day fits. */
export const transcriptLimits = {
  /** Characters of a file. */
  characters: 8_388_608,
  cues: 100_000,
  /** Characters of one cue. */
  cueCharacters: 10_000,
  /** Characters of one cue with its markup, as a file writes it: each word may have its own tags. */
  markedUpCueCharacters: 100_000,
  /** Characters of a line that holds the times of a cue. */
  timingCharacters: 1000,
  speakerCharacters: 255,
  /** 100 hours. */
  timeMs: 360_000_000,
} as const;

/** A fault of a transcript, with the line of the file (the first is 1). */
export class TranscriptError extends Error {
  readonly line: number;
  readonly detail: string;

  constructor(line: number, detail: string) {
    super(`Line ${line}: ${detail}`);
    this.name = 'TranscriptError';
    this.line = line;
    this.detail = detail;
  }
}

/** A cue as a parser read it, with the line it begins in. */
export interface FoundCue {
  readonly line: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly speaker?: string | undefined;
  readonly text: string;
}

// eslint-disable-next-line no-control-regex -- control characters are what is removed
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replace(controls, '')
    .split(/\r\n|[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');

const cueTooLong = (line: number): TranscriptError =>
  new TranscriptError(line, `A cue holds at most ${transcriptLimits.cueCharacters} characters.`);

function tidyCue({ line, startMs, endMs, speaker, text }: FoundCue): TranscriptCue | undefined {
  const body = plainText(text);
  // Tools write a cue that ends before it starts; no player shows it.
  if (body === '' || endMs < startMs) return undefined;
  const name = plainText(speaker ?? '').replace(/\s+/g, ' ');
  if (endMs >= transcriptLimits.timeMs) throw new TranscriptError(line, 'A transcript covers at most 100 hours.');
  if (body.length > transcriptLimits.cueCharacters) throw cueTooLong(line);
  if (name.length > transcriptLimits.speakerCharacters)
    throw new TranscriptError(line, `A speaker's name has at most ${transcriptLimits.speakerCharacters} characters.`);
  return {
    start_ms: startMs,
    // A cue without length is never shown by a player; a millisecond keeps it.
    end_ms: Math.max(endMs, startMs + 1),
    ...(name !== '' && { speaker: name }),
    text: body,
  };
}

/** The document of parsed cues: tidy texts, sorted by start. Throws `TranscriptError`. */
export function createTranscript(found: readonly FoundCue[]): Transcript {
  if (found.length > transcriptLimits.cues)
    throw new TranscriptError(
      found[transcriptLimits.cues]!.line,
      `A transcript holds at most ${transcriptLimits.cues} cues.`,
    );
  const cues = found.map(tidyCue).filter((cue) => cue !== undefined);
  if (cues.length === 0) throw new TranscriptError(1, 'The transcript says nothing: it has no cue with text.');
  return { version: 1, cues: cues.sort((a, b) => a.start_ms - b.start_ms) };
}

/** The stored form: equal documents give equal text. */
export const encodeTranscript = ({ version, cues }: Transcript): string =>
  JSON.stringify({
    version,
    cues: cues.map(({ start_ms, end_ms, speaker, text }) => ({
      start_ms,
      end_ms,
      ...(speaker !== undefined && { speaker }),
      text,
    })),
  });

/** A document from its stored form. Throws for another text; the cues were checked when they were stored. */
export function decodeTranscript(text: string): Transcript {
  const value = JSON.parse(text) as Partial<Transcript> | null;
  if (value?.version !== 1 || !Array.isArray(value.cues)) throw new Error('not a stored transcript of version 1');
  return value as Transcript;
}

/** The cues `shiftMs` later; a cue that ends at or before 0 is left out, one that begins before 0 begins at 0. */
export function shiftCues({ cues }: Transcript, shiftMs: number): TranscriptCue[] {
  return cues
    .filter((cue) => cue.end_ms + shiftMs > 0)
    .map((cue) => ({ ...cue, start_ms: Math.max(0, cue.start_ms + shiftMs), end_ms: cue.end_ms + shiftMs }));
}

const timing = /^\s*(\S+)\s+-->\s+(\S+)(?:\s|$)/;

/** The texts before and behind the arrow of a line; undefined when it is no "start --> end". */
export function splitTiming(line: string): readonly [start: string, end: string] | undefined {
  const match = line.length <= transcriptLimits.timingCharacters ? timing.exec(line) : null;
  return match ? [match[1]!, match[2]!] : undefined;
}

/** Lines of one cue as one text, markup and all. Throws `TranscriptError` when they are longer than any cue. */
export function joinCueLines(lines: readonly string[], line: number): string {
  if (lines.reduce((sum, { length }) => sum + length + 1, 0) > transcriptLimits.markedUpCueCharacters)
    throw cueTooLong(line);
  return lines.join('\n');
}

/** Lines of a text file: CRLF, LF and CR end one; a byte order mark is no text. */
export const linesOf = (text: string): string[] => text.replace(/^\ufeff/, '').split(/\r\n|[\r\n]/);
