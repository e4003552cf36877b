import { kinds } from './_attempts.ts';
import type { CaseResult } from './_run-case.ts';

const seconds = (ms: number | undefined) => (ms === undefined ? 'never' : `${(ms / 1000).toFixed(1)} s`);

/** A case in lines: recovery by kind, what failed meanwhile, and what was broken. */
export function renderResult({ name, recoveryMs, caughtUpMs, seen, violations }: CaseResult): string {
  const lines = kinds.map((kind) => {
    const { attempts, failed, slowestMs, reasons } = seen.get(kind)!;
    const why = [...reasons].map(([reason, times]) => `${times} × ${reason}`).join(', ');
    return `  ${kind.padEnd(16)} again after ${seconds(recoveryMs.get(kind)).padEnd(8)} ${failed} of ${attempts} failed, slowest ${seconds(slowestMs)}${why && ` (${why})`}`;
  });
  const broken = violations.map((violation) => `  BROKEN: ${violation}`);
  return [
    `${violations.length === 0 ? 'held' : 'BROKEN'}: ${name}; caught up after ${seconds(caughtUpMs)}`,
    ...lines,
    ...broken,
  ].join('\n');
}
