import { encodingJobKinds, type EncodingJobKind } from '@longwave/events';
import type { Job } from '@longwave/rpc/job';

/** Jobs that may hold a slot for hours. */
const pictureKinds: ReadonlySet<string> = new Set<EncodingJobKind>(['encode_hls_video', 'encode_creative_pictures']);
const withoutPictures = encodingJobKinds.filter((kind) => !pictureKinds.has(kind));

/** The kinds that a slot may take beside the jobs in hand: pictures take half of the slots, rounded up, so that sound always has some where there are two. */
export function claimableKinds(running: readonly Pick<Job, 'kind'>[], slots: number): readonly EncodingJobKind[] {
  const pictures = running.filter(({ kind }) => pictureKinds.has(kind)).length;
  return pictures < Math.ceil(slots / 2) ? encodingJobKinds : withoutPictures;
}
