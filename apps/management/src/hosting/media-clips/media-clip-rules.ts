import type { productCatalog } from '@longwave/command-catalog';
import { findResource, holdResource, type Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { isOurs, type SourceOptions } from '../productions/production-source.ts';
import { holdUpload, receivedUpload } from '../../workspace/uploads/find-upload.ts';
import { uploadIdOf } from '../../workspace/uploads/upload.ts';
import { audioRemoved } from './audio-removed.ts';
import { formatsOf, startBytes, typeFits, type ClipFormat } from './audio-format.ts';
import { probeRemoteFile, notFetchable } from './remote-file.ts';

type MediaClipCommand = Extract<keyof Rules<typeof productCatalog>, `media_clip.${string}`>;
type MediaClipRules = Pick<Rules<typeof productCatalog>, MediaClipCommand>;

const url = '/changes/url';

const invalid = (path: string, code: string, detail: string) =>
  new Problem('validation_failed', detail, { errors: [{ path, code, detail }] });

/** A checked file. */
interface FoundFile {
  readonly sizeBytes: number;
  readonly contentType: string | undefined;
  readonly start: Buffer;
  readonly hosted: 'ours' | 'outside';
  readonly hold: (tx: Transaction) => Promise<void>;
}

async function readStart(store: ObjectStore, key: string, sizeBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.get(key, { from: 0, to: Math.min(startBytes, sizeBytes) }))
    chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Throws unless the file has the declared size and format. */
function checkDeclared(
  file: FoundFile,
  declared: { readonly file_format: ClipFormat; readonly size?: number | undefined },
) {
  const { file_format: format, size } = declared;
  if (size !== undefined && size !== file.sizeBytes)
    throw invalid('/changes/size', 'size_mismatch', `The file has ${file.sizeBytes} bytes.`);
  if (!formatsOf(file.start).includes(format) || !typeFits(file.contentType, format)) {
    const type = file.contentType ? ` (${file.contentType.slice(0, 80)})` : '';
    throw invalid('/changes/file_format', 'format_mismatch', `The file${type} is not ${format}.`);
  }
}

/** Rules of the media clip commands. */
export function mediaClipRules({ pool, store, mediaUrl, publicFetch }: SourceOptions): MediaClipRules {
  async function findOurs(request: Omit<Parameters<typeof receivedUpload>[2], 'path'>): Promise<FoundFile> {
    const found = await receivedUpload(pool, store, { ...request, path: url });
    const { upload, sizeBytes } = found;
    if (upload.upload_type !== 'public')
      throw invalid(
        url,
        'not_public',
        `A clip needs a file that everybody may read: upload it with upload_type "public".`,
      );
    if (sizeBytes === 0) throw invalid(url, 'file_empty', 'The file is empty.');
    const start = await readStart(store, upload.storage_key, sizeBytes);
    return {
      sizeBytes,
      contentType: upload.content_type,
      start,
      hosted: 'ours',
      hold: (tx) => holdUpload(tx, found, url),
    };
  }

  /** Throws unless the host serves podcast apps: answers HEAD, says the size and takes byte ranges. */
  async function findRemote(address: string): Promise<FoundFile> {
    const { head, takesRanges, sizeBytes, contentType, start } = await probeRemoteFile(publicFetch, address, url);
    if (head.status !== 200)
      throw notFetchable(url, `The host answers HEAD with ${head.status || 'nothing'}; podcast apps need 200.`);
    if (!takesRanges) throw notFetchable(url, 'The host ignores byte ranges, without which podcast apps cannot seek.');
    const said = head.header('content-length');
    if (sizeBytes === undefined || (said !== undefined && said !== String(sizeBytes)))
      throw notFetchable(url, 'The host does not say clearly how many bytes the file has.');
    return { sizeBytes, contentType, start, hosted: 'outside', hold: async () => undefined };
  }

  return {
    'media_clip.register': {
      prepare: async ({ workspaceId, actor, changes }) => {
        const file = isOurs(mediaUrl, changes.url)
          ? await findOurs({ workspaceId, actor, uploadId: uploadIdOf(mediaUrl, changes.url) })
          : await findRemote(changes.url);
        checkDeclared(file, changes);
        return async ({ tx }) => {
          await file.hold(tx);
          return { attributes: { ...changes, size: file.sizeBytes, hosted: file.hosted } };
        };
      },
    },

    'media_clip.record': async ({ tx, workspaceId, changes: { sha256, ...clip } }) => {
      const { production_id: productionId, episode_id: episodeId } = clip;
      await holdResource(tx, workspaceId, 'productions', productionId);
      const production = await findResource(tx, workspaceId, 'productions', productionId);
      const episode = await findResource(tx, workspaceId, 'episodes', episodeId);
      if (production?.lifecycle_state === 'deleted' && episode?.attributes.current_production_id !== productionId)
        throw new Problem('state_not_allowed', 'The production was deleted, and its episode does not use its audio.');
      const url = `${mediaUrl}/delivery/v1/a/${sha256}/${productionId}.mp3?e=${episodeId}`;
      return { attributes: { ...clip, url, hosted: 'ours' } };
    },

    'media_clip.delete': ({ current, changes, now }) => ({
      attributes: current,
      consequences: [audioRemoved(current, changes.mode, now)],
    }),
  };
}
