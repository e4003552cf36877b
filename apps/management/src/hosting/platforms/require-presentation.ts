import type { DecisionBasis, ResourceRow } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import type { ShownPresentation } from '@longwave/rpc/delivery';
import type { DeliveryContract } from '@longwave/services';

/** Why an episode cannot be, or stay, on a platform, in words; undefined while it can. */
export function whyNotShown(
  podcast: Pick<ResourceRow<'podcasts'>, 'lifecycle_state' | 'attributes'> | undefined,
  episode: Pick<ResourceRow<'episodes'>, 'lifecycle_state'> | undefined,
): string | undefined {
  if (episode?.lifecycle_state !== 'published') return 'The episode is not published.';
  if (podcast?.lifecycle_state !== 'published') return 'The podcast is not published.';
  if (!podcast.attributes.hls_video) return 'The podcast has hls_video switched off.';
  return undefined;
}

/** Throws `presentation_not_ready` unless the episode has a presentation with pictures now. */
export function requireVideo(presentation: ShownPresentation | undefined): ShownPresentation {
  if (presentation?.hasPictures) return presentation;
  throw new Problem(
    'presentation_not_ready',
    presentation
      ? 'The presentation of the episode has sound alone; the platform takes video. Wait until its pictures are encoded, or upload a file that has some.'
      : 'The episode has no presentation by HLS yet. Wait until its tracks are encoded.',
  );
}

/**
 * The capability that a submission needs, for its receipt. Throws `capability_not_supported` while the contract of Public Delivery, its surface
 * “hls”, or video on that surface is not current.
 */
export function requireVideoSurface({ name, version, status, surfaces }: DeliveryContract): readonly DecisionBasis[] {
  if (status !== 'current') throw new Problem('capability_not_supported', `${name} ${version} is ${status}.`);
  const hls = surfaces.find((surface) => surface.name === 'hls');
  if (hls?.status !== 'current')
    throw new Problem('capability_not_supported', `The surface “hls” is ${hls?.status ?? 'not known'}.`);
  if (!hls.media.includes('video'))
    throw new Problem(
      'capability_not_supported',
      'The surface “hls” has no video: this installation serves sound alone.',
    );
  return [{ type: 'surface_capabilities', id: hls.name, version: hls.version }];
}
