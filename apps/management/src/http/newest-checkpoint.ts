import type { ReceiptLog } from '@longwave/command-pipeline';

/** A checkpoint is made every hour; this much later everybody sees it. */
export const keptMs = 60_000;

/**
 * Answers the newest checkpoint from memory for a minute, also that there is none: anybody may ask without a token. Requests that come while
 * it is being read wait for the same answer; a reading that fails is not kept.
 */
export function createNewestCheckpoint(
  read: ReceiptLog['newestCheckpoint'],
  clock: () => Date,
): ReceiptLog['newestCheckpoint'] {
  let kept: { readonly answer: ReturnType<typeof read>; readonly untilMs: number } | undefined;
  return () => {
    const now = clock().getTime();
    if (kept && now < kept.untilMs) return kept.answer;
    const current = { answer: read(), untilMs: now + keptMs };
    kept = current;
    current.answer.catch(() => {
      if (kept === current) kept = undefined;
    });
    return current.answer;
  };
}

/** A log of receipts whose newest checkpoint is answered from memory for a minute. */
export const withKeptCheckpoint = (log: ReceiptLog, clock: () => Date): ReceiptLog => ({
  ...log,
  newestCheckpoint: createNewestCheckpoint(log.newestCheckpoint, clock),
});
