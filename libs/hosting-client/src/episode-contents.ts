import { storedTranscripts, type Resource } from '@longwave/command-catalog';
import { z } from 'zod';

const stored = storedTranscripts.element.shape;

/** A transcript as clients see it. */
export const transcript = z.strictObject({
  language: stored.language,
  captions: stored.captions,
  cue_count: stored.cue_count,
  /** The same cues in each format, timed for the audio without ads. */
  urls: z.strictObject({ vtt: z.url(), srt: z.url(), json: z.url() }),
});

/** The transcripts of an episode, with the addresses of their documents. */
export const showTranscripts = (
  { transcripts = [] }: Resource<'episodes'>['attributes'],
  mediaUrl: string,
): z.output<typeof transcript>[] =>
  transcripts.map(({ language, captions, cue_count, sha256 }) => {
    const at = (format: string) => `${mediaUrl}/delivery/v1/t/${sha256}/0.${format}`;
    return { language, captions, cue_count, urls: { vtt: at('vtt'), srt: at('srt'), json: at('json') } };
  });
