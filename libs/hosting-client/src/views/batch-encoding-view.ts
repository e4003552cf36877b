import { batchEncodings, type Resource } from '@longwave/command-catalog';
import { z } from 'zod';
import type { View } from './view.ts';

const attributes = batchEncodings.attributes.shape;

const schema = z.strictObject({
  id: z.string(),
  podcast_id: z.string(),
  initiator: attributes.initiator,
  state: z.enum(batchEncodings.states),
  total: z.int(),
  done: z.int(),
  failed: z.int(),
  /** 0 to 1. */
  progress: z.number().min(0).max(1),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  /** The batch that this one takes back. */
  reverts: attributes.reverts,
  problem: attributes.problem,
});

function progressOf(total: number, finished: number, state: string): number {
  if (state === 'completed') return 1;
  return total === 0 ? 0 : Math.min(1, finished / total);
}

function render({ id, lifecycle_state: state, attributes: stored }: Resource<'batch_encodings'>) {
  const { podcast_id, initiator, total, done, failed, started_at, finished_at, reverts, problem } = stored;
  return {
    id,
    podcast_id,
    initiator,
    state,
    total,
    done,
    failed,
    progress: progressOf(total, done + failed, state),
    started_at: started_at ?? null,
    finished_at: finished_at ?? null,
    ...(reverts && { reverts }),
    ...(problem && { problem }),
  };
}

export const batchEncodingView = {
  name: 'BatchEncoding',
  schema,
  render,
} satisfies View<'batch_encodings'>;
