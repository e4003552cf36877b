import { rest } from '../../api/client.ts';
import { refusalOf, type Refusal } from '../../api/upload/plan-upload.ts';
import type { FileHandle } from '../../api/upload/upload-state.ts';
import { uploads } from '../../api/upload/uploads.ts';
import { createDraftKeys, draftOfFile } from './draft-of-file.ts';

/** A file that a person dropped or chose. */
export interface TakenFile {
  readonly file: File;
  /** Where the browser can open it again after a reload. */
  readonly handle?: FileHandle | undefined;
}

/** What became of files: episodes of those that are sent, and why others are not. */
export interface TakenFiles {
  readonly episodes: readonly string[];
  readonly refused: readonly { readonly name: string; readonly refusal: Refusal }[];
}

const keys = createDraftKeys(() => sessionStorage);

/** A draft of its own for a new file; the same one for a file that was chosen again. */
async function takeFile({ file, handle }: TakenFile, podcastId: string): Promise<string> {
  const unfinished = uploads.findUnfinished(file, podcastId);
  if (unfinished && (await uploads.goOn(unfinished.id, file))) return unfinished.target;
  const use = (target: string) => uploads.add(file, { target, group: podcastId }, handle);
  return draftOfFile(file, podcastId, { send: rest, keys, use });
}

/**
 * Begins a draft episode for each file and sends the file. What cannot be the recording of an episode is refused before anything is made.
 * @throws ApiProblem when a draft could not be made
 */
export async function takeFiles(files: readonly TakenFile[], podcastId: string): Promise<TakenFiles> {
  const judged = files.map((taken) => ({ taken, refusal: refusalOf(taken.file) }));
  const refused = judged.flatMap(({ taken, refusal }) => (refusal ? [{ name: taken.file.name, refusal }] : []));
  const episodes: string[] = [];
  for (const { taken, refusal } of judged) if (!refusal) episodes.push(await takeFile(taken, podcastId));
  return { episodes, refused };
}

/** Dropped files, with handles where the browser has them: these have to be asked for before the event is over. */
export async function droppedFiles({ items }: DataTransfer): Promise<readonly TakenFile[]> {
  const asked = [...items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => {
      const { getAsFileSystemHandle: ask } = item as { getAsFileSystemHandle?: () => Promise<FileHandle | null> };
      return { file: item.getAsFile(), handle: ask?.call(item).catch(() => null) };
    });
  const taken = await Promise.all(
    asked.map(async ({ file, handle }) => file && { file, handle: (await handle) ?? undefined }),
  );
  return taken.filter((each) => each !== null);
}
