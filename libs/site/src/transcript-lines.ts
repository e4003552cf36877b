import type { TranscriptCue } from '@longwave/transcript';
import { escapeXml } from '@longwave/xml';

/** A pause of this length begins a paragraph. */
const pauseMs = 2_000;
/** A paragraph of this length ends with the sentence. */
const longCharacters = 500;
/** A paragraph of this length ends with the cue: a transcript may have no ends of sentences. */
const longestCharacters = 2_000;
const sentenceEnd = /[.!?…。！？]["'”’»)]?$/;

interface Paragraph {
  readonly speaker: string | undefined;
  readonly texts: string[];
  endMs: number;
  characters: number;
}

const isLong = ({ characters, texts }: Paragraph) =>
  characters >= longestCharacters || (characters >= longCharacters && sentenceEnd.test(texts.at(-1)!));

/** Cues of one speaker without a long pause as one paragraph. A paragraph is made when it is asked for, so that what nobody asks for takes no time. */
function* paragraphsOf(cues: readonly TranscriptCue[]): Generator<Paragraph> {
  let last: Paragraph | undefined;
  for (const { start_ms, end_ms, speaker, text } of cues) {
    if (last !== undefined && (isLong(last) || last.speaker !== speaker || start_ms - last.endMs >= pauseMs)) {
      yield last;
      last = undefined;
    }
    last ??= { speaker, texts: [], endMs: end_ms, characters: 0 };
    last.texts.push(text);
    last.endMs = Math.max(last.endMs, end_ms);
    last.characters += text.length + 1;
  }
  if (last !== undefined) yield last;
}

/** A transcript as paragraphs, in at most so many bytes of HTML, with the speaker where another one begins; `isWhole` is false where some are left out. */
export function transcriptLines(
  cues: readonly TranscriptCue[],
  maxBytes: number,
): { readonly lines: readonly string[]; readonly isWhole: boolean } {
  const lines: string[] = [];
  let left = maxBytes;
  let before: string | undefined;
  for (const { speaker, texts } of paragraphsOf(cues)) {
    const named = speaker === undefined || speaker === before ? '' : `<strong>${escapeXml(speaker)}:</strong> `;
    const line = `<p>${named}${escapeXml(texts.join(' '))}</p>`;
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) return { lines, isWhole: false };
    lines.push(line);
    before = speaker;
  }
  return { lines, isWhole: true };
}
