import { productCatalog, type Resource } from '@longwave/command-catalog';
import { parseTranscript, renderTranscript, TranscriptError, type TranscriptFormat } from '@longwave/transcript';
import { parseChaptersFile } from './fetch-extras.ts';
import type { ImportContext, SendForItem } from './import-context.ts';
import { findItemProblem } from './item-problems.ts';
import type { ReadableItem } from './read-item.ts';

/**
 * Adds the chapters and transcripts of an imported item to its episode; a file that cannot be fetched or read is noted. The next attempt
 * does not fetch what the episode has already.
 */
export async function addExtras(
  read: ReadableItem,
  episode: Resource<'episodes'>,
  send: SendForItem,
  context: ImportContext,
): Promise<void> {
  if (read.item.chaptersUrl !== undefined && episode.attributes.chapters === undefined)
    await addChapters(read, read.item.chaptersUrl, episode.id, send, context);
  if (read.item.transcripts.length > 0 && episode.attributes.transcripts === undefined)
    await addTranscripts(read, episode.id, send, context);
}

async function addChapters(
  { notes }: ReadableItem,
  url: string,
  id: string,
  send: SendForItem,
  { files, signal }: ImportContext,
): Promise<void> {
  const text = await files.fetchText(url, signal);
  const chapters = text === undefined ? undefined : parseChaptersFile(text);
  if (!chapters?.length) {
    notes.lost('chapters', 'The file with the chapters cannot be fetched or read.');
    return;
  }
  const problem = await findItemProblem(() =>
    send('chapters', { type: 'episode.set_chapters', id, changes: { chapters } }),
  );
  if (problem) notes.lost('chapters', problem.message);
}

/** Adds one transcript for each language. */
async function addTranscripts(
  { item, notes }: ReadableItem,
  id: string,
  send: SendForItem,
  { files, signal, language: defaultLanguage }: ImportContext,
): Promise<void> {
  const transcripts = new Map<string, Transcript>();
  for (const { url, format, captions, language = defaultLanguage } of item.transcripts) {
    if (transcripts.has(language.toLowerCase())) continue;
    const content = await files.fetchText(url, signal);
    const transcript =
      content === undefined ? undefined : acceptable({ language, format, content, ...(captions && { captions }) });
    // One that makes the list too long must not keep the others out.
    if (transcript && transcriptList.safeParse([...transcripts.values(), transcript]).success)
      transcripts.set(language.toLowerCase(), transcript);
    else notes.lost('transcripts', `The transcript for “${language}” cannot be fetched or read.`);
  }
  if (transcripts.size === 0) return;
  const changes = { transcripts: [...transcripts.values()] };
  const problem = await findItemProblem(() => send('transcripts', { type: 'episode.set_transcripts', id, changes }));
  if (problem) notes.lost('transcripts', problem.message);
}

const { transcripts: transcriptList } = productCatalog.commands['episode.set_transcripts'].changes.shape;

interface Transcript {
  readonly language: string;
  readonly format: TranscriptFormat;
  readonly content: string;
  readonly captions?: boolean;
}

/** A transcript as the command takes it, as WebVTT where that makes it short enough; undefined when the command does not take it. */
function acceptable(transcript: Transcript): Transcript | undefined {
  try {
    const parsed = parseTranscript(transcript.format, transcript.content);
    if (transcriptList.safeParse([transcript]).success) return transcript;
    const content = renderTranscript('vtt', parsed);
    const shorter = { captions: transcript.format !== 'json', ...transcript, format: 'vtt', content } as const;
    return transcriptList.safeParse([shorter]).success ? shorter : undefined;
  } catch (error) {
    if (error instanceof TranscriptError) return undefined;
    throw error;
  }
}
