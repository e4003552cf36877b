import { createTranscript, linesOf, shiftCues, TranscriptError, type FoundCue, type Transcript } from './transcript.ts';

/** Lines in which the members of the top object's array "segments" begin; empty when there is none. */
function segmentLines(text: string): number[] {
  const lines: number[] = [];
  let line = 1;
  let depth = 0;
  let key = '';
  let inSegments = false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|\r\n|[\r\n]|[[\]{}]/g)) {
    if (token.startsWith('"')) {
      if (depth === 1) key = token;
    } else if (token === '[' || token === '{') {
      if (depth === 1) inSegments = token === '[' && key === '"segments"';
      else if (depth === 2 && inSegments) lines.push(line);
      depth++;
    } else if (token === ']' || token === '}') depth--;
    else line++;
  }
  return lines;
}

function lineOfSyntaxError(text: string, error: unknown): number {
  const position = /position (\d+)/.exec(String(error))?.[1];
  // Without a position the text ended too early.
  return linesOf(position === undefined ? text : text.slice(0, Number(position))).length;
}

/** How long the last segment is shown when the file does not say. */
const lastSegmentMs = 3000;

/** Seconds; some tools write them as text. */
function timeMs(value: unknown, name: string, line: number): number {
  const isText = typeof value === 'string' && value.length <= 32 && /^\s*\d+(?:\.\d+)?\s*$/.test(value);
  const seconds = isText ? Number(value) : value;
  if (typeof seconds !== 'number' || !(seconds >= 0))
    throw new TranscriptError(line, `A segment's "${name}" is a number of seconds.`);
  return Math.round(seconds * 1000);
}

/**
 * A transcript from the JSON of Podcasting 2.0 ({version, segments}). A segment without its end ends where the next one
 * starts. Throws `TranscriptError`.
 */
export function parseJson(text: string): Transcript {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new TranscriptError(lineOfSyntaxError(text.replace(/^\ufeff/, ''), error), 'This is not JSON.');
  }
  const segments = typeof value === 'object' && value !== null && 'segments' in value ? value.segments : undefined;
  if (!Array.isArray(segments)) throw new TranscriptError(1, 'Expected an object with a list "segments".');
  const lines = segmentLines(text);
  const found = segments.map((segment: unknown, index) => {
    const line = lines[index] ?? 1;
    if (typeof segment !== 'object' || segment === null || Array.isArray(segment))
      throw new TranscriptError(line, 'A segment is an object.');
    const { startTime, endTime, body, speaker } = segment as Record<string, unknown>;
    if (typeof body !== 'string') throw new TranscriptError(line, 'A segment\'s "body" is a text.');
    if (speaker !== undefined && speaker !== null && typeof speaker !== 'string')
      throw new TranscriptError(line, 'A segment\'s "speaker" is a text.');
    return {
      line,
      startMs: timeMs(startTime, 'startTime', line),
      endMs: endTime === undefined || endTime === null ? undefined : timeMs(endTime, 'endTime', line),
      speaker: speaker ?? undefined,
      text: body,
    };
  });
  return createTranscript(
    found.map((cue, index): FoundCue => {
      const next = found[index + 1]?.startMs ?? 0;
      const untilNext = next >= cue.startMs ? next : cue.startMs + lastSegmentMs;
      return { ...cue, endMs: cue.endMs ?? untilNext };
    }),
  );
}

/** JSON of Podcasting 2.0, version 1.0.0; times in seconds. */
export function renderJson(transcript: Transcript, shiftMs = 0): string {
  const segments = shiftCues(transcript, shiftMs).map(({ start_ms, end_ms, speaker, text }) => ({
    ...(speaker !== undefined && { speaker }),
    startTime: start_ms / 1000,
    endTime: end_ms / 1000,
    body: text,
  }));
  return JSON.stringify({ version: '1.0.0', segments });
}
