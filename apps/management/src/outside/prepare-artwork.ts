import type { Attributes } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { ProbeServiceService } from '@longwave/rpc/probe';

type Artwork = NonNullable<Attributes<'podcasts'>['artwork']>;

/** An image in the object store or at a public address. */
export type ArtworkSource = { readonly storageKey: string } | { readonly sourceUrl: string };

/** Checks an image by the rules of directories and stores its renditions. Throws `artwork_not_acceptable` with the reason. */
export type PrepareArtwork = (source: ArtworkSource, deadline?: Date) => Promise<Artwork>;

type Rendition = Artwork['renditions'][number];

/**
 * Asks the encoder for the renditions of an image. Throws `temporarily_unavailable` when no encoder answers within 30 s.
 */
export function createPrepareArtwork(encoder: RpcClient<typeof ProbeServiceService>): PrepareArtwork {
  return async (source, deadline) => {
    const request = 'storageKey' in source ? source : { storageKey: '', sourceUrl: source.sourceUrl };
    const { outcome } = await encoder
      .prepareArtwork(request, { deadlineMs: 30_000, ...(deadline && { deadline }) })
      .catch((cause: unknown) => {
        throw new Problem('temporarily_unavailable', 'The encoder is not available. Try again in a moment.', {
          cause,
          retryAfterSeconds: 5,
        });
      });
    if (outcome?.$case !== 'artwork')
      throw new Problem('artwork_not_acceptable', outcome?.value.detail ?? 'The image cannot be read.');
    return {
      renditions: outcome.value.renditions.map(({ size, contentType, storageKey, sha256, sizeBytes }): Rendition => ({
        size,
        content_type: contentType as Rendition['content_type'],
        storage_key: storageKey,
        sha256,
        size_bytes: Number(sizeBytes),
      })),
    };
  };
}
