import {
  createTranscript,
  joinCueLines,
  linesOf,
  shiftCues,
  splitTiming,
  TranscriptError,
  type FoundCue,
  type Transcript,
} from './transcript.ts';
import { formatTime } from './vtt.ts';

const timestamp = /^(?:(\d{1,3}):)?([0-5]?\d):([0-5]?\d)[,.](\d{1,3})$/;
/** The markup that players of SubRip know. */
const markup = /<\/?(?:b|i|u|s|font)(?:\s[^<>]*)?>|\{\\an?\d\}/gi;
/** "Adam Curry: …": at most five words without punctuation, the first one with a capital or a digit. */
const label = /^([\p{Lu}\p{Lt}\p{Lo}\p{N}][\p{L}\p{M}\p{N}.'’_-]*(?:[ \n][\p{L}\p{M}\p{N}.'’_&-]+){0,4}):(?:[ \n]|$)/u;

/** Characters of a line and lines of a card (Podcasting 2.0 transcripts, SRT). */
const lineCharacters = 32;
const cardLines = 2;

function parseTimestamp(text: string, line: number): number {
  const match = timestamp.exec(text);
  if (!match) throw new TranscriptError(line, `"${text.slice(0, 32)}" is no time of the form hh:mm:ss,mmm.`);
  const [, hours = '0', minutes, seconds, fraction] = match;
  return (
    Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(fraction!.padEnd(3, '0'))
  );
}

const isBlank = (line: string | undefined) => line === undefined || line.trim() === '';
const isNumber = (line: string | undefined) => line !== undefined && /^\s*\d+\s*$/.test(line);

/** Places of the lines that give the times of a card. An arrow elsewhere is text. */
const arrowsOf = (lines: readonly string[]): number[] =>
  lines.flatMap((line, at) => {
    if (!line.includes('-->')) return [];
    const isFirst = isBlank(lines[at - 1]) || (isNumber(lines[at - 1]) && isBlank(lines[at - 2]));
    return isFirst || /^\s*\d[\d:.,]*\s*-->/.test(line) ? [at] : [];
  });

const noCard = (line: number) => new TranscriptError(line, 'A card begins with its number or "start --> end".');

/** The line in which the number of the card begins whose times are in line `arrow`, with the blank lines around it. */
function numberBefore(lines: readonly string[], from: number, arrow: number): number {
  let at = arrow;
  while (at > from && isBlank(lines[at - 1])) at--;
  return at > from && isNumber(lines[at - 1]) ? at - 1 : arrow;
}

/**
 * A transcript from SubRip. A card goes on to the next one's number or times, with or without blank lines. "Name: text" at
 * the beginning of a card names its speaker (Podcasting 2.0 transcripts, SRT). Throws `TranscriptError`.
 */
export function parseSrt(text: string): Transcript {
  const lines = linesOf(text);
  const arrows = arrowsOf(lines);
  const first = arrows[0] ?? lines.length;
  const firstNumber = numberBefore(lines, 0, first);
  const isNumbered = firstNumber < first;
  const stray = lines.findIndex((line) => !isBlank(line));
  if (stray >= 0 && stray < (arrows.length > 0 ? firstNumber : first)) throw noCard(stray + 1);

  const found = arrows.map((arrow, index): FoundCue => {
    const line = arrow + 1;
    const times = splitTiming(lines[arrow]!);
    if (!times) throw noCard(line);
    const next = arrows[index + 1] ?? lines.length;
    // Without numbers a line of digits is text.
    const end = isNumbered && next < lines.length ? numberBefore(lines, line, next) : next;
    const body = joinCueLines(lines.slice(line, end), line).replace(markup, '').trim();
    const speaker = label.exec(body)?.[1];
    return {
      line,
      startMs: parseTimestamp(times[0], line),
      endMs: parseTimestamp(times[1], line),
      speaker,
      text: speaker === undefined ? body : body.slice(speaker.length + 1),
    };
  });
  return createTranscript(found);
}

/** Words of a text; one that is longer than a line is cut. */
function wordsOf(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .flatMap((word) => {
      const characters = [...word];
      const pieces: string[] = [];
      for (let from = 0; from < characters.length; from += lineCharacters)
        pieces.push(characters.slice(from, from + lineCharacters).join(''));
      return pieces;
    });
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(text)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if ([...longer].length <= lineCharacters) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
  }
  return [...lines, line];
}

/** Cards of at most two lines; a long cue becomes several, each with the time its share of the text takes. */
function cardsOf(startMs: number, endMs: number, text: string): { startMs: number; endMs: number; text: string }[] {
  const lines = wrap(text);
  const count = Math.min(Math.ceil(lines.length / cardLines), endMs - startMs);
  const perCard = Math.ceil(lines.length / count);
  const cards: string[] = [];
  for (let from = 0; from < lines.length; from += perCard) cards.push(lines.slice(from, from + perCard).join('\n'));
  const total = cards.reduce((sum, card) => sum + card.length, 0);
  let spoken = 0;
  let from = startMs;
  return cards.map((card, index) => {
    spoken += card.length;
    const left = cards.length - 1 - index;
    const share = Math.round(startMs + ((endMs - startMs) * spoken) / total);
    const to = left === 0 ? endMs : Math.min(Math.max(share, from + 1), endMs - left);
    const timed = { startMs: from, endMs: to, text: card };
    from = to;
    return timed;
  });
}

/** SubRip: lines of at most 32 characters, two to a card, the speaker's name where the speaker changes. */
export function renderSrt(transcript: Transcript, shiftMs = 0): string {
  let speaking: string | undefined;
  const cards = shiftCues(transcript, shiftMs).flatMap(({ start_ms, end_ms, speaker, text }) => {
    const named = speaker !== undefined && speaker !== speaking ? `${speaker}: ${text}` : text;
    speaking = speaker;
    // SubRip has no escapes: an arrow in a text would begin a card.
    return cardsOf(start_ms, end_ms, named.replaceAll('-->', '->'));
  });
  return cards
    .map(
      ({ startMs, endMs, text }, index) =>
        `${index + 1}\n${formatTime(startMs, ',')} --> ${formatTime(endMs, ',')}\n${text}\n`,
    )
    .join('\n');
}
