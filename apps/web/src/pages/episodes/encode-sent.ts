import type { QueryClient } from '@tanstack/react-query';
import { rest } from '../../api/client.ts';
import type { Upload } from '../../api/upload/queue.ts';
import { uploads } from '../../api/upload/uploads.ts';
import { beginEncoding } from './begin-encoding.ts';

/** Why encoding did not begin, by the upload's id. */
let refused: ReadonlyMap<string, unknown> = new Map();
const underway = new Set<string>();
const listeners = new Set<() => void>();

function note(id: string, error: unknown): void {
  const next = new Map(refused);
  if (error === undefined) next.delete(id);
  else next.set(id, error);
  refused = next;
  for (const listener of listeners) listener();
}

/** Begins to encode a file that has arrived. Then the upload is done and leaves the list. */
async function encode(upload: Upload, queries: QueryClient): Promise<void> {
  const { id } = upload;
  if (underway.has(id)) return;
  underway.add(id);
  note(id, undefined);
  const wished = () => (uploads.current().find((each) => each.id === id) ?? upload).publish;
  try {
    await beginEncoding(upload, wished, rest);
    await uploads.remove(id);
    await queries.invalidateQueries({ queryKey: ['rest', '/productions'] });
  } catch (error) {
    note(id, error);
  } finally {
    underway.delete(id);
  }
}

let isFollowing = false;

/** Starts to encode each file once it has arrived, whichever page is shown, from now on. */
export function followUploads(queries: QueryClient): void {
  if (isFollowing) return;
  isFollowing = true;
  const check = () => {
    for (const upload of uploads.current())
      if (upload.phase === 'sent' && !refused.has(upload.id)) void encode(upload, queries);
  };
  uploads.subscribe(check);
  check();
}

/** Tries once more to begin an encoding that was refused. */
export const encodeAgain = (upload: Upload, queries: QueryClient): void => void encode(upload, queries);

/** The refusals, as an external store of React. */
export const refusals = {
  current: () => refused,
  subscribe: (onChange: () => void) => {
    listeners.add(onChange);
    return () => void listeners.delete(onChange);
  },
};
