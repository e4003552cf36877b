/** Jest's order of files: those that share an installation come last, so that it runs for no longer than they need it. */
import { readFileSync } from 'node:fs';

const shares = ({ path }) => readFileSync(path, 'utf8').includes('_shared-installation.ts');

export default class SharedInstallationLast {
  sort(tests) {
    return tests.toSorted((a, b) => Number(shares(a)) - Number(shares(b)) || (a.path < b.path ? -1 : 1));
  }

  /** Files whose last run failed are not remembered: each run has them all. */
  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
