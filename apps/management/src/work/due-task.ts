import type { ChangesInput } from '@longwave/command-catalog';
import type { Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { ProductCommand } from './execute-as-management.ts';

/** Something that happens when its time comes. */
export interface DueTask<C extends ProductCommand = ProductCommand> {
  /** Of letters and dashes; part of idempotency keys. */
  readonly name: string;
  /** What is due, the oldest first, at most `limit`. Must use an index: it is asked all the time. */
  readonly findDue: (pool: Pool, now: Date, limit: number) => Promise<readonly Due[]>;
  /** What it sends to the resource that is due. */
  readonly command: C;
  readonly changes: (due: Due) => ChangesInput<C>;
}
