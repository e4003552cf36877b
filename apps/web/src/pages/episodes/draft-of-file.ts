import type { rest } from '../../api/client.ts';
import { draftTitle } from './draft-title.ts';

/** What tells a file from others, as far as a browser says. */
type FileOf = Pick<File, 'name' | 'size' | 'lastModified'>;

/** Keys of requests for drafts whose answers are still owed: the same for a file that is dropped again, also after a reload. */
export function createDraftKeys(
  kept: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
  newKey: () => string = () => crypto.randomUUID(),
) {
  const nameOf = ({ name, size, lastModified }: FileOf, podcastId: string) =>
    `draft-of:${JSON.stringify([podcastId, name, size, lastModified])}`;
  return {
    keyOf: (file: FileOf, podcastId: string): string => {
      const name = nameOf(file, podcastId);
      const key = kept().getItem(name) ?? newKey();
      kept().setItem(name, key);
      return key;
    },
    /** Notes that the file has its draft: one that is dropped later gets another. */
    end: (file: FileOf, podcastId: string): void => kept().removeItem(nameOf(file, podcastId)),
  };
}

/**
 * Makes the draft of a file, once: a request whose answer was lost leaves no second draft when the file is dropped again. Answers its id.
 * @param use what the draft is for; while it fails, the next attempt gets the same draft
 */
export async function draftOfFile(
  file: FileOf,
  podcastId: string,
  {
    send,
    keys,
    use,
  }: {
    readonly send: Pick<typeof rest, 'POST'>;
    readonly keys: ReturnType<typeof createDraftKeys>;
    readonly use: (episodeId: string) => Promise<unknown>;
  },
): Promise<string> {
  const { data } = await send.POST('/podcasts/{id}/episodes', {
    params: { path: { id: podcastId }, header: { 'Idempotency-Key': keys.keyOf(file, podcastId) } },
    body: { title: draftTitle(file.name) },
  });
  const { id } = data!;
  await use(id);
  keys.end(file, podcastId);
  return id;
}
