import type { rest } from '../../api/client.ts';
import type { Upload } from '../../api/upload/queue.ts';

/**
 * Makes the production of a file that has arrived, and starts it; both once, however often it is asked. "Publish when ready" goes with the start, and what
 * the person chooses while it begins goes after it: once this has ended, the production says what was chosen.
 * @param wished whether the episode is to be published, by now
 */
export async function beginEncoding(
  { id, target, fileUrl = '' }: Pick<Upload, 'id' | 'target' | 'fileUrl'>,
  wished: () => boolean,
  send: Pick<typeof rest, 'POST' | 'PUT'>,
): Promise<void> {
  const { data } = await send.POST('/productions', {
    params: { header: { 'Idempotency-Key': `${id}.production` } },
    body: { episode_id: target, file_url: fileUrl },
  });
  const params = { path: { id: data!.id } };
  let told = wished();
  await send.POST('/productions/{id}/start', { params, body: { publish_episode: told } });
  while (told !== wished()) {
    told = wished();
    await send.PUT('/productions/{id}', { params, body: { publication_flag: told } });
  }
}
