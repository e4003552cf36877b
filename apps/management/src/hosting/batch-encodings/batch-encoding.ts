import type { z } from 'zod';
import type { batchEncodings } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { Podcast } from '../podcasts/podcast.ts';

export type BatchEncoding = z.output<typeof batchEncodings.attributes>;

/** Parts that an initiator arranges anew; the others encode again. */
export const partsOf = (initiator: BatchEncoding['initiator']): readonly ('intro' | 'outro')[] =>
  (({ intro: ['intro'], outro: ['outro'], intro_outro: ['intro', 'outro'], audio_format: [], loudness: [] }) as const)[
    initiator
  ];

/**
 * A new batch with the segments that it joins: those of this moment, whatever the podcast gets meanwhile. Throws
 * `state_not_allowed` while such a part is prepared, or when it could not be.
 */
export function startBatch(
  podcastId: string,
  initiator: BatchEncoding['initiator'],
  podcast: Pick<Podcast, 'intro' | 'outro'>,
): BatchEncoding {
  const batch: BatchEncoding = { podcast_id: podcastId, initiator, total: 0, done: 0, failed: 0 };
  for (const name of partsOf(initiator)) {
    const part = podcast[name];
    if (part?.state === 'encoding')
      throw new Problem('state_not_allowed', `The ${name} is still being prepared. Try again in a moment.`);
    if (part?.state === 'failed')
      throw new Problem(
        'state_not_allowed',
        `The ${name} could not be prepared. Set another file, or clear it, first.`,
      );
    if (part?.segment) batch[name] = part.segment;
  }
  return batch;
}
