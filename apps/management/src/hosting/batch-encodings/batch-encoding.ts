import type { z } from 'zod';
import type { batchEncodings } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { Podcast } from '../podcasts/podcast.ts';

export type BatchEncoding = z.output<typeof batchEncodings.attributes>;

/** The parts that an initiator changes; without any, the episodes are encoded again. */
export const partsOf = (initiator: BatchEncoding['initiator']): readonly ('intro' | 'outro')[] =>
  (({ intro: ['intro'], outro: ['outro'], intro_outro: ['intro', 'outro'], audio_format: [], loudness: [] }) as const)[
    initiator
  ];

/**
 * A new batch with the podcast's present segments, which it applies whatever the podcast gets meanwhile. Throws `state_not_allowed` while
 * such a part is being prepared, or when its preparation failed.
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
