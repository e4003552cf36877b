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

/** Also one digit for the hours and a comma, which the format does not allow but tools write. */
const timestamp = /^(?:(\d+):)?([0-5]\d):([0-5]\d)[.,](\d{3})$/;

/** Named references that WebVTT texts use (HTML has more; they stay as they are). */
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
};

function decodeReferences(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([a-z]{2,8}));/g,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(named, name) ? named[name]! : whole;
      const code = decimal === undefined ? parseInt(hex!, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
    },
  );
}

function parseTimestamp(text: string, line: number): number {
  const match = timestamp.exec(text);
  if (!match)
    throw new TranscriptError(line, `"${text.slice(0, 32)}" is no time of the form hh:mm:ss.mmm or mm:ss.mmm.`);
  const [, hours = '0', minutes, seconds, ms] = match;
  return Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(ms);
}

/** Parts of a cue's text by voice (W3C WebVTT §4.2.2, voice span); other markup is dropped. */
function voicesOf(text: string): { speaker: string | undefined; text: string }[] {
  const parts: { speaker: string | undefined; text: string }[] = [];
  let speaker: string | undefined;
  let body = '';
  const end = () => {
    if (body.trim() !== '') parts.push({ speaker, text: decodeReferences(body) });
    body = '';
  };
  // A "<" without ">" is a tag up to the end of the text (WebVTT tokenizer).
  for (const [token] of text.matchAll(/<[^>]*>?|[^<]+/g)) {
    if (!token.startsWith('<')) {
      body += token;
      continue;
    }
    const voice = /^<v(?:\.[^\s>]*)?(?:\s+([^>]*))?>?$/.exec(token);
    if (voice) {
      end();
      speaker = decodeReferences(voice[1] ?? '');
    } else if (/^<\/v\s*>?$/.test(token)) {
      end();
      speaker = undefined;
    }
  }
  end();
  return parts;
}

/**
 * A transcript from WebVTT (W3C WebVTT §4, §6): voices become speakers; settings, notes, styles and regions are ignored.
 * A cue with two voices becomes two of the same time. Throws `TranscriptError`.
 */
export function parseVtt(text: string): Transcript {
  const lines = linesOf(text);
  const blank = (index: number) => lines[index]!.trim() === '';
  const inBlock = (index: number) => index < lines.length && !blank(index) && !lines[index]!.includes('-->');
  if (!/^WEBVTT(?:[ \t]|$)/.test(lines[0]!)) throw new TranscriptError(1, 'A WebVTT file begins with "WEBVTT".');
  const found: FoundCue[] = [];
  let at = 1;
  while (at < lines.length) {
    let next = at;
    while (inBlock(next)) next++;
    const arrow = lines[next];
    if (!arrow?.includes('-->')) {
      // A block without a timing line: the header's rest, a note, a style, a region, or a stray text that players skip too.
      at = next + 1;
      continue;
    }
    const times = splitTiming(arrow);
    if (!times) throw new TranscriptError(next + 1, 'A cue begins with "start --> end".');
    const startMs = parseTimestamp(times[0], next + 1);
    const endMs = parseTimestamp(times[1], next + 1);
    let last = next + 1;
    while (inBlock(last)) last++;
    // Without a blank line between, the line before an arrow is the next cue's identifier or its text: players take text.
    for (const voice of voicesOf(joinCueLines(lines.slice(next + 1, last), next + 1)))
      found.push({ line: next + 1, startMs, endMs, ...voice });
    at = last;
  }
  return createTranscript(found);
}

const two = (value: number) => String(value).padStart(2, '0');

/** "01:02:03.004", with `point` before the milliseconds. */
export function formatTime(ms: number, point: '.' | ','): string {
  const seconds = Math.floor(ms / 1000);
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${point}${String(ms % 1000).padStart(3, '0')}`;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeVtt = (text: string) => text.replace(/[&<>]/g, (character) => escapes[character]!);

/** WebVTT with a voice span for each speaker (Apple takes speakers' names only from there). */
export function renderVtt(transcript: Transcript, shiftMs = 0): string {
  const cues = shiftCues(transcript, shiftMs).map(({ start_ms, end_ms, speaker, text }) => {
    const voice = speaker === undefined ? '' : `<v ${escapeVtt(speaker)}>`;
    return `${formatTime(start_ms, '.')} --> ${formatTime(end_ms, '.')}\n${voice}${escapeVtt(text)}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
}
