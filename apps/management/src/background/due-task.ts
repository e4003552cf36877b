import type { ChangesInput } from '@longwave/command-catalog';
import type { Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { ProductCommand } from './execute-as-management.ts';

/** Something that happens when its time comes. */
export interface DueTask<C extends ProductCommand = ProductCommand> {
  /** Of letters and dashes; part of idempotency keys. */
  readonly name: string;
  /** Lists due resources, the oldest first, at most `limit`. It must use an index, because the clock calls it all the time. */
  readonly findDue: (pool: Pool, now: Date, limit: number) => Promise<readonly Due[]>;
  /** The command for a due resource. */
  readonly command: C;
  readonly changes: (due: Due) => ChangesInput<C>;
}
