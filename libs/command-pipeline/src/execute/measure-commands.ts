import type { Catalog } from '@longwave/command-catalog';
import { databaseProblem } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { createDuration } from '@longwave/service-kit';
import type { CommandOutcome, ExecuteCommand } from './command-request.ts';

function outcomeOf({ replayed, status }: CommandOutcome): string {
  if (replayed) return 'replayed';
  return status === 202 ? 'accepted' : 'succeeded';
}

function problemOf(error: unknown): string {
  return (error instanceof Problem ? error : databaseProblem(error))?.code ?? 'internal_error';
}

/** The same execution, measured: `longwave.command.duration`. */
export function measureCommands({ commands }: Catalog, execute: ExecuteCommand): ExecuteCommand {
  const duration = createDuration('longwave.command.duration', 'Time from a command to its answer');
  return async (request, actor, subject) => {
    const startedMs = performance.now();
    // Only names of the catalog become labels: a client could send any number of others.
    const command = Object.hasOwn(commands, request.commandType) ? request.commandType : 'unknown';
    const record = (outcome: string) => duration.record((performance.now() - startedMs) / 1_000, { command, outcome });
    try {
      const outcome = await execute(request, actor, subject);
      record(outcomeOf(outcome));
      return outcome;
    } catch (error) {
      record(problemOf(error));
      throw error;
    }
  };
}
