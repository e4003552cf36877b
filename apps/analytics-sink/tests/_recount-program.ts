import { execFile } from 'node:child_process';
import path from 'node:path';
import type { TestDatabase } from '@longwave/fleet';
import { workspaceRoot } from '@longwave/fleet';
import { bareEnvironment } from '@longwave/test-kit';
import { dataFolder } from '@longwave/test-kit/delivery-facts';

/** How a run of `longwave-recount` ended, and what it printed. */
export interface RecountRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs `longwave-recount` on a database of the sink, as a person would: it shares no code with the incremental counting. It is run as it is built
 * (`npx nx test` builds before): a file runs it a hundred times, and from its sources each takes twice the time to start.
 */
export function runRecount({ url }: Pick<TestDatabase, 'url'>, args: readonly string[]): Promise<RecountRun> {
  const program = path.join(workspaceRoot, 'apps/audience-tools/dist/cli/recount.js');
  const env = { ...bareEnvironment, DATABASE_URL: url, AUDIENCE_DATA: dataFolder };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { env, maxBuffer: 1 << 28 }, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}
