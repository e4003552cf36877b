import type { ChangesInput } from '@longwave/command-catalog';
import type { Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { OwnCommand } from './execute-as-management.ts';

/** A command that the clock sends to resources when they are due. */
export interface DueTask<C extends OwnCommand = OwnCommand> {
  /** Letters and dashes; part of idempotency keys. */
  readonly name: string;
  /** Lists due resources, the oldest first, at most `limit`. It needs an index, because the clock calls it all the time. */
  readonly findDue: (pool: Pool, now: Date, limit: number) => Promise<readonly Due[]>;
  readonly command: C;
  /** The command creates its subject; its changes name the resource that is due. */
  readonly creates?: boolean;
  readonly changes: (due: Due) => ChangesInput<C>;
}
