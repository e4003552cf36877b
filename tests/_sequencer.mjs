/** Jest's order of files: those that share an installation come last, so that it runs for no longer than they need it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Whether a file imports the shared installation, itself or through other files of this folder. */
function shares(file) {
  if (path.basename(file) === '_shared-installation.ts') return true;
  const imported = readFileSync(file, 'utf8').matchAll(/from '(\.[^']*\/_[\w-]+\.ts)'/g);
  return Array.from(imported).some(([, to]) => shares(path.resolve(path.dirname(file), to)));
}

export default class SharedInstallationLast {
  sort(tests) {
    const last = new Set(tests.filter(({ path: file }) => shares(file)));
    return tests.toSorted((a, b) => Number(last.has(a)) - Number(last.has(b)) || (a.path < b.path ? -1 : 1));
  }

  /** Files whose last run failed are not remembered: each run has them all. */
  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
