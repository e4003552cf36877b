export {
  decodeTranscript,
  encodeTranscript,
  transcriptContentTypes,
  TranscriptError,
  transcriptFormats,
  transcriptLimits,
  type Transcript,
  type TranscriptCue,
  type TranscriptFormat,
} from './transcript.ts';
export { parseTranscript, renderTranscript } from './formats.ts';
