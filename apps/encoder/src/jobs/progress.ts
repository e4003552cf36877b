import type { EncodingStage, ProgressTick } from '@longwave/events';
import { progressKeyOf } from '@longwave/services';
import type { Redis } from 'ioredis';

/** Share of the whole at which each stage begins; the next one's is its end. */
const stageStarts: readonly (readonly [EncodingStage, number])[] = [
  ['downloading', 0],
  ['measuring', 0.05],
  ['encoding', 0.2],
  ['verifying', 0.93],
  ['storing', 0.97],
  ['done', 1],
];

/** Whole progress, 0 … 1, of a fraction of one stage. */
function overallProgress(stage: EncodingStage, fraction: number): number {
  const index = stageStarts.findIndex(([name]) => name === stage);
  const from = stageStarts[index]![1];
  const to = stageStarts[index + 1]?.[1] ?? 1;
  return Math.round((from + (to - from) * Math.max(0, Math.min(1, fraction))) * 1000) / 1000;
}

export interface ProgressReporter {
  /** Never falls: a repeated stage shows nothing until it passes the last value. */
  report(stage: EncodingStage, fraction: number): void;
  /** Publishes 1. */
  finish(): Promise<void>;
  /** Removes what was published, after work that failed. */
  clear(): Promise<void>;
}

const intervalMs = 250;
const keptSeconds = 3600;

/**
 * Ephemeral ticks of one production, or of one of its tracks of HLS: published on `progress:{production_id}` or `progress:{production_id}:{track}` at most four times a second, the last one kept under
 * the same key for an hour. While Redis is away ticks are lost, and the work goes on.
 */
export function createProgress(
  redis: Redis,
  productionId: string,
  onError: (error: unknown) => void,
  track?: string,
): ProgressReporter {
  const key = progressKeyOf(productionId, track);
  let highest = -1;
  let pending: Omit<ProgressTick, 'production_id'> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sentAt = -Infinity;
  let sending = Promise.resolve();
  const send = () => {
    timer = undefined;
    if (!pending) return;
    const message = JSON.stringify({ production_id: productionId, ...pending } satisfies ProgressTick);
    pending = undefined;
    sentAt = performance.now();
    sending = redis
      .multi()
      .set(key, message, 'EX', keptSeconds)
      .publish(key, message)
      .exec()
      .then(() => undefined, onError);
  };
  const schedule = () => {
    timer ??= setTimeout(send, Math.max(0, sentAt + intervalMs - performance.now()));
  };
  return {
    report: (stage, fraction) => {
      const progress = overallProgress(stage, fraction);
      if (progress <= highest) return;
      highest = progress;
      pending = { progress, stage };
      schedule();
    },
    finish: async () => {
      clearTimeout(timer);
      pending = { progress: 1, stage: 'done' };
      await sending;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, sentAt + intervalMs - performance.now())));
      send();
      await sending;
    },
    clear: async () => {
      clearTimeout(timer);
      pending = undefined;
      await sending;
      await redis.del(key).catch(onError);
    },
  };
}
