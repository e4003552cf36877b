import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { makeProductionTree } from './production-tree.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** The sources of trees, besides the packages that the lock file names. */
const sources = ['package.json', 'package-lock.json', 'tools/*.mjs', 'deploy/package/*.ts', '{apps,libs}/**/*'];
const isNoSource = (name: string) => ['dist', 'tests', 'cases', 'node_modules'].includes(name);

function digestOfSources(): string {
  const hash = createHash('sha256').update(process.version);
  const entries = globSync(sources, { cwd: root, withFileTypes: true, exclude: (entry) => isNoSource(entry.name) });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(`\n${path.relative(root, file)}\n`).update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * The trees of all services in `out`, made where they are missing or their sources have changed.
 * @param onProgress called with each service whose tree was made, and the milliseconds that it took
 */
export async function ensurePackagedServices(
  out: string,
  onProgress: (service: ServiceName, durationMs: number) => void,
): Promise<void> {
  const stamp = path.join(out, 'sources.sha256');
  const digest = digestOfSources();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  rmSync(stamp, { force: true });
  for (const service of namesOf(services)) {
    const startedMs = performance.now();
    await makeProductionTree(service, out);
    onProgress(service, performance.now() - startedMs);
  }
  writeFileSync(stamp, digest);
}
