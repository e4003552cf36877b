import { methodologyVersion } from '@longwave/audience';
import { readKeptFrom, completeUntilMs } from '@longwave/audience-store';
import { setStatementTimeout, transaction, type Pool, type Transaction } from '@longwave/postgres';
import type { FactScope } from './fact-range.ts';
import { streamBilledBefore, streamFacts, streamTracks, streamUserAgents, streamVelocityDays } from './stored-facts.ts';
import { writeFactFile } from './fact-file.ts';

/** The range begins before the stored facts. */
class RemovedFacts extends Error {}

/** The scope, which begins with the stored facts when it has no beginning. Throws `RemovedFacts` when it begins before them. */
async function keptScope(tx: Transaction, scope: FactScope): Promise<FactScope> {
  const keptFrom = await readKeptFrom(tx);
  if (keptFrom === undefined) return scope;
  if ((scope.from ?? scope.to ?? keptFrom) < keptFrom)
    throw new RemovedFacts(
      `Facts from before ${keptFrom.toISOString()} are no longer stored. Choose a range that begins later.`,
    );
  return { ...scope, from: scope.from ?? keptFrom };
}

const text = (at: Date | undefined) => at?.toISOString() ?? null;

/**
 * Writes a snapshot of the stored facts of a scope, with their user agents, tracks and layouts, to a file. Throws `RemovedFacts` when the scope begins
 * before the stored facts.
 * @param listsVersion of the installed lists
 */
export async function exportFacts(
  pool: Pool,
  requested: FactScope,
  file: string,
  options: {
    readonly listsVersion: string;
    readonly now: Date;
    readonly onFacts: (count: number) => void;
  },
): Promise<{ readonly facts: number; readonly user_agents: number }> {
  const completeUntil = await completeUntilMs(pool);
  const headerOf = (scope: FactScope) => ({
    kind: 'fact_file' as const,
    format: 1 as const,
    from: text(scope.from),
    to: text(scope.to),
    workspace_id: scope.workspaceId ?? null,
    podcast_id: scope.podcastId ?? null,
    complete_until: completeUntil === 0 ? null : new Date(completeUntil).toISOString(),
    exported_at: options.now.toISOString(),
    methodology_version: methodologyVersion,
    lists_version: options.listsVersion,
  });
  return transaction(
    pool,
    async (tx) => {
      // A slow disk or a long table must not end the export.
      await tx.query(`set local idle_in_transaction_session_timeout = '10min'`);
      await setStatementTimeout(tx, 0);
      const scope = await keptScope(tx, requested);
      const batches = async function* () {
        yield* streamUserAgents(tx, scope);
        yield* streamTracks(tx, scope);
        yield* streamVelocityDays(tx, scope);
        yield* streamBilledBefore(tx, scope);
        yield* streamFacts(tx, scope);
      };
      return writeFactFile(file, headerOf(scope), batches(), options.onFacts);
    },
    'REPEATABLE READ',
  );
}
