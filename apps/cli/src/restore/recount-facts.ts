import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet/running';
import { z } from 'zod';

const script = path.join(workspaceRoot, 'apps/audience-tools/src/cli/recount.ts');
/** `recount compare`: the numbers agree, or they do not. */
const known = [0, 1] as const;
const comparisonSchema = z.object({ differing: z.int(), figures: z.array(z.unknown()) });

function recount(databaseUrl: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, DATABASE_URL: databaseUrl },
    maxBuffer: 1 << 30,
  });
  if (!known.some((code) => code === status)) throw new Error(`The recount failed: ${stderr.trim()}`);
  return stdout;
}

/**
 * Counts every stored fact again and compares all numbers with those that the service shows: `longwave recount export` and `compare`.
 * @param databaseUrl as the owner of schema `audience`
 * @param folder for a file with the facts, which is removed
 */
export function recountFacts(
  databaseUrl: string,
  folder: string,
): { readonly numbers: number; readonly differing: number } {
  const temporary = mkdtempSync(path.join(folder, 'recount-'));
  try {
    const file = path.join(temporary, 'facts.jsonl.gz');
    recount(databaseUrl, ['export', '--out', file]);
    const answer = recount(databaseUrl, ['compare', file, '--json', '--temp', temporary]);
    const { differing, figures } = comparisonSchema.parse(JSON.parse(answer));
    return { numbers: figures.length, differing };
  } finally {
    rmSync(temporary, { recursive: true });
  }
}
