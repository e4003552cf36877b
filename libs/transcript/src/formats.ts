import { parseJson, renderJson } from './json.ts';
import { parseSrt, renderSrt } from './srt.ts';
import { TranscriptError, transcriptLimits, type Transcript, type TranscriptFormat } from './transcript.ts';
import { parseVtt, renderVtt } from './vtt.ts';

const parsers = { vtt: parseVtt, srt: parseSrt, json: parseJson };
const renderers = { vtt: renderVtt, srt: renderSrt, json: renderJson };

/** The document of a file in one of the formats. Throws `TranscriptError`, which names the line and the fault. */
export function parseTranscript(format: TranscriptFormat, text: string): Transcript {
  if (text.length > transcriptLimits.characters)
    throw new TranscriptError(1, `A transcript has at most ${transcriptLimits.characters} characters.`);
  return parsers[format](text);
}

/** A document in one of the formats, `shiftMs` later. Equal inputs give equal text. */
export const renderTranscript = (format: TranscriptFormat, transcript: Transcript, shiftMs = 0): string =>
  renderers[format](transcript, shiftMs);
