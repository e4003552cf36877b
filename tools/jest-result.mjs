/** A jest reporter that writes what a project's tests came to into `$TEST_RESULTS/<project>.json`, for tools/test.mjs. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export default class ResultFile {
  constructor({ rootDir }) {
    const { name } = JSON.parse(readFileSync(path.join(rootDir, 'package.json'), 'utf8'));
    this.file = process.env.TEST_RESULTS && path.join(process.env.TEST_RESULTS, `${name}.json`);
  }

  onRunComplete(_contexts, results) {
    if (!this.file) return;
    const tests = results.testResults.flatMap((suite) => suite.testResults);
    const withStatus = (...statuses) => tests.filter(({ status }) => statuses.includes(status));
    mkdirSync(path.dirname(this.file), { recursive: true });
    const summary = {
      passed: withStatus('passed').length,
      // A file that cannot even be loaded counts as one failure.
      failed: withStatus('failed').length + results.numRuntimeErrorTestSuites,
      skipped: withStatus('pending', 'skipped', 'todo', 'disabled').map(({ fullName }) => fullName),
    };
    writeFileSync(this.file, JSON.stringify(summary));
  }
}
