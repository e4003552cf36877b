/**
 * A jest reporter that writes what a project's tests came to into `$TEST_RESULTS/<project>.json`, for tools/test.mjs. A project
 * whose process does not end after its tests has one more failure, and is ended.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const endsWithinMs = 60_000;

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
    setTimeout(() => {
      console.error('The tests ended, but something that they left open kept their process running.');
      writeFileSync(this.file, JSON.stringify({ ...summary, failed: summary.failed + 1 }));
      process.exit(1);
    }, endsWithinMs).unref();
  }
}
