import type { QueryClient } from '@tanstack/react-query';
import { rest } from '../../api/client.ts';
import type { Upload } from '../../api/upload/queue.ts';
import { uploads } from '../../api/upload/uploads.ts';

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

/**
 * Makes the production of a file that has arrived, and starts it; both once, however often it is asked. "Publish when ready" goes with the start. Then the
 * upload is done and leaves the list.
 */
async function encode({ id, target, fileUrl = '', publish }: Upload, queries: QueryClient): Promise<void> {
  if (underway.has(id)) return;
  underway.add(id);
  note(id, undefined);
  try {
    const { data } = await rest.POST('/productions', {
      params: { header: { 'Idempotency-Key': `${id}.production` } },
      body: { episode_id: target, file_url: fileUrl },
    });
    const started = { path: { id: data!.id } };
    await rest.POST('/productions/{id}/start', { params: started, body: { publish_episode: publish } });
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
