import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet/running';
import { z } from 'zod';

const script = path.join(workspaceRoot, 'apps/audience-tools/src/cli/recount.ts');
/** `recount compare`: the numbers agree, or they do not. */
const known = [0, 1] as const;
const comparisonSchema = z.object({
  figures: z.array(
    z.object({ section: z.string(), key: z.array(z.string()), stored: z.number(), recounted: z.number() }),
  ),
});

/**
 * How many numbers differ by more than what was not counted yet at the moment of the snapshot: facts are stored at once and wait for the text of
 * their user agent, which may have come in the same moment. Each can change a number by one.
 */
export function countDiffering(figures: z.infer<typeof comparisonSchema>['figures']): number {
  const waiting = figures.find(({ section, key }) => section === 'facts' && key[0] === 'waiting')?.stored ?? 0;
  return figures.filter(({ stored, recounted }) => Math.abs(stored - recounted) > waiting).length;
}

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
    const { figures } = comparisonSchema.parse(JSON.parse(answer));
    return { numbers: figures.length, differing: countDiffering(figures) };
  } finally {
    rmSync(temporary, { recursive: true });
  }
}
