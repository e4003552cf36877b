import type { TranscriptCue } from '@longwave/transcript';
import { escapeXml } from '@longwave/xml';

/** A pause of this length begins a paragraph. */
const pauseMs = 2_000;
/** A paragraph of this length ends with the sentence. */
const longCharacters = 500;
const sentenceEnd = /[.!?…。！？]["'”’»)]?$/;

interface Paragraph {
  readonly speaker: string | undefined;
  readonly texts: string[];
  endMs: number;
  characters: number;
}

/** Cues of one speaker without a long pause as one paragraph; the speaker is named where another one begins. */
function paragraphsOf(cues: readonly TranscriptCue[]): readonly Paragraph[] {
  const paragraphs: Paragraph[] = [];
  for (const { start_ms, end_ms, speaker, text } of cues) {
    const last = paragraphs.at(-1);
    const isLong = last !== undefined && last.characters >= longCharacters && sentenceEnd.test(last.texts.at(-1)!);
    if (last === undefined || isLong || last.speaker !== speaker || start_ms - last.endMs >= pauseMs)
      paragraphs.push({ speaker, texts: [text], endMs: end_ms, characters: text.length });
    else {
      last.texts.push(text);
      last.endMs = Math.max(last.endMs, end_ms);
      last.characters += text.length;
    }
  }
  return paragraphs;
}

/** A transcript as paragraphs, in at most so many bytes of HTML; `isWhole` is false where some are left out. */
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
