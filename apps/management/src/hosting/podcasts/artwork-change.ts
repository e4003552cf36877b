import type { Actor } from '@longwave/command-pipeline';
import { isProblem, Problem } from '@longwave/problems';
import type { PrepareArtwork } from '../../outside/prepare-artwork.ts';
import { uploadIdOf } from '../../workspace/uploads/upload.ts';
import type { FindNamedUpload } from './named-upload.ts';
import type { Artwork } from './podcast.ts';

interface WithArtwork {
  readonly artwork_url?: string | undefined;
  readonly artwork?: Artwork | undefined;
}

export interface ArtworkOptions {
  readonly mediaUrl: string;
  readonly prepareArtwork: PrepareArtwork;
  readonly findNamedUpload: FindNamedUpload;
}

const path = '/changes/artwork_url';

/**
 * Prepares the image of a changed `artwork_url` before the transaction; the returned function puts its renditions beside the
 * address. Throws `artwork_not_acceptable` or `upload_not_received` naming the field, or `temporarily_unavailable`.
 */
export async function prepareArtworkChange(
  { mediaUrl, prepareArtwork, findNamedUpload }: ArtworkOptions,
  input: {
    readonly workspaceId: string;
    readonly actor: Actor;
    readonly current: WithArtwork | undefined;
    readonly changes: WithArtwork;
    readonly deadline: Date | undefined;
  },
): Promise<<A extends WithArtwork>(attributes: A, locked: WithArtwork) => A & WithArtwork> {
  const { workspaceId, actor, current, changes, deadline } = input;
  const url = changes.artwork_url;
  if (url === undefined) return (attributes) => attributes;

  async function prepare(address: string): Promise<Artwork> {
    const own = uploadIdOf(mediaUrl, address) !== undefined;
    const source = own
      ? {
          storageKey: (await findNamedUpload({ workspaceId, actor, fileUrl: address, path })).upload.storage_key,
        }
      : { sourceUrl: address };
    try {
      return await prepareArtwork(source, deadline);
    } catch (error) {
      if (!isProblem(error, 'artwork_not_acceptable')) throw error;
      throw new Problem(error.code, error.message, {
        errors: [{ path, code: error.code, detail: error.message }],
        cause: error,
      });
    }
  }

  const unchanged = current?.artwork !== undefined && current.artwork_url === url;
  const artwork = unchanged ? undefined : await prepare(url);
  return (attributes, locked) => {
    if (artwork) return { ...attributes, artwork };
    // The artwork changed after `prepare`: the present renditions are of another image.
    if (locked.artwork_url !== url)
      throw new Problem('temporarily_unavailable', 'The artwork changed at the same moment. Try again.', {
        retryAfterSeconds: 1,
      });
    return attributes;
  };
}
