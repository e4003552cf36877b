import type { ChangesOf } from '@longwave/command-catalog';
import type { Actor } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { Problem, type FieldError } from '@longwave/problems';
import { TranscriptError, transcriptLimits } from '@longwave/transcript';
import type { FindNamedUpload } from '../podcasts/named-upload.ts';
import { storeDocument, transcriptDocument, type TranscriptDocument } from '../../workspace/transcript-document.ts';
import { assertNoErrors, type Episode } from './episode.ts';

type TranscriptInput = ChangesOf<'episode.set_transcripts'>['transcripts'];
type StoredTranscripts = NonNullable<Episode['transcripts']>;

/** The most bytes of UTF-8 for the characters of a transcript. */
const maxBytes = transcriptLimits.characters * 4;

const unreadable = (path: string, detail: string): FieldError => ({ path, code: 'transcript_not_readable', detail });

async function readText(store: ObjectStore, key: string, path: string): Promise<string> {
  const refuse = (detail: string) => new Problem('validation_failed', detail, { errors: [unreadable(path, detail)] });
  const object = await store.find(key);
  if ((object?.sizeBytes ?? 0) > maxBytes) throw refuse(`A transcript has at most ${maxBytes} bytes.`);
  const chunks: Buffer[] = [];
  for await (const chunk of await store.get(key)) chunks.push(chunk as Buffer);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw refuse('The file is not UTF-8 text.');
  }
}

/**
 * Parses transcripts and stores their documents under their digests. Throws `validation_failed` with the line of every fault before it
 * stores anything.
 */
export async function storeTranscripts(
  options: { readonly store: ObjectStore; readonly findNamedUpload: FindNamedUpload },
  input: { readonly workspaceId: string; readonly actor: Actor; readonly transcripts: TranscriptInput },
): Promise<StoredTranscripts> {
  const { store, findNamedUpload } = options;
  const errors: FieldError[] = [];
  const languages = new Set<string>();

  async function textOf(
    { content, file_url: fileUrl }: TranscriptInput[number],
    path: string,
  ): Promise<string | undefined> {
    if (content !== undefined && fileUrl === undefined) return content;
    if (content === undefined && fileUrl !== undefined) {
      const { upload } = await findNamedUpload({ ...input, fileUrl, path: `${path}/file_url` });
      return readText(store, upload.storage_key, `${path}/file_url`);
    }
    errors.push({ path, code: 'one_of', detail: 'Give either "content" or "file_url".' });
    return undefined;
  }

  const read: TranscriptDocument[] = [];
  for (const [index, entry] of input.transcripts.entries()) {
    const path = `/changes/transcripts/${index}`;
    const language = entry.language.toLowerCase();
    if (languages.has(language))
      errors.push({
        path: `${path}/language`,
        code: 'not_unique',
        detail: `Two transcripts are in ${entry.language}.`,
      });
    languages.add(language);
    const text = await textOf(entry, path);
    if (text === undefined) continue;
    try {
      read.push(transcriptDocument(entry, text));
    } catch (error) {
      if (!(error instanceof TranscriptError)) throw error;
      errors.push(unreadable(`${path}/${entry.content === undefined ? 'file_url' : 'content'}`, error.message));
    }
  }
  assertNoErrors(errors);
  for (const document of read) await storeDocument(store, document);
  return read.map(({ stored }) => stored);
}
