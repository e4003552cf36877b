import { Problem } from '@longwave/problems';

/**
 * Thrown by the rule of a prepared command inside its transaction: what `prepare` was told is no longer so. The executor rolls back and
 * prepares again, three times; then the client gets `temporarily_unavailable`.
 */
export class StalePreparation extends Problem {
  constructor(detail: string) {
    super('temporarily_unavailable', detail, { retryAfterSeconds: 1 });
    this.name = 'StalePreparation';
  }
}

const maxRepeats = 3;

/** Runs `execute` again while it finds its preparation stale. */
export async function withFreshPreparation<T>(execute: (repeat: number) => Promise<T>): Promise<T> {
  for (let repeat = 0; ; repeat++) {
    try {
      return await execute(repeat);
    } catch (error) {
      if (!(error instanceof StalePreparation) || repeat === maxRepeats) throw error;
    }
  }
}
