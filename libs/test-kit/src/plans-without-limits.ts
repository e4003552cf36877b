import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';

/** Rate limits that no machine reaches within a minute. */
export const many = { requests_per_minute: 1e6, upload_urls_per_minute: 1e6, legacy_requests_per_minute: 1e6 };

/**
 * Writes a plans file (auth-server's PLANS_FILE) with the usual plans and `unlimited`, which is `network` without rate limits;
 * `more` makes further plans of the usual ones.
 */
export function writePlansWithoutLimits(
  file: string,
  more: (usual: Readonly<Record<string, object>>) => Readonly<Record<string, object>> = () => ({}),
): string {
  const usual = JSON.parse(readFileSync(path.join(workspaceRoot, 'apps/auth-server/data/plans.json'), 'utf8')) as {
    readonly version: number;
    readonly plans: Readonly<Record<string, object>>;
  };
  const plans = { ...usual.plans, unlimited: { ...usual.plans['network'], ...many }, ...more(usual.plans) };
  writeFileSync(file, JSON.stringify({ ...usual, plans }));
  return file;
}
