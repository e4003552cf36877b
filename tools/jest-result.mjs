/**
 * A jest reporter that writes what a project's tests came to into `$TEST_RESULTS/<project>.json`, for tools/test.mjs: how many passed,
 * the seconds of each file, the names of those that were skipped, and where those that failed are, with the first lines of what they met. A project
 * whose process does not end after its tests has one more failure, and is ended.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const endsWithinMs = 60_000;
const linesOfMessage = 12;

/** The first lines of a message, without the frames of its stack and without colours. */
const firstLines = (message) =>
  stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
    .slice(0, linesOfMessage)
    .join('\n');

/** What failed in a test file: its tests, or the file itself when it cannot be loaded. */
function failuresOf({ testFilePath, testExecError, testResults, failureMessage }, rootDir) {
  const file = path.relative(rootDir, testFilePath);
  if (testExecError) return [{ test: file, message: firstLines(failureMessage ?? String(testExecError)) }];
  return testResults
    .filter(({ status }) => status === 'failed')
    .map((test) => ({
      test: `${file} › ${test.fullName}`,
      message: firstLines(test.failureMessages.join('\n')),
    }));
}

export default class ResultFile {
  constructor({ rootDir }) {
    this.rootDir = rootDir;
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
      seconds: Object.fromEntries(
        results.testResults.map(({ testFilePath, perfStats: { start, end } }) => [
          path.relative(this.rootDir, testFilePath),
          Math.max(0, end - start) / 1000,
        ]),
      ),
      failures: results.testResults.flatMap((suite) => failuresOf(suite, this.rootDir)),
      skipped: withStatus('pending', 'skipped', 'todo', 'disabled').map(({ fullName }) => fullName),
    };
    writeFileSync(this.file, JSON.stringify(summary));
    setTimeout(() => {
      console.error('The tests ended, but something that they left open kept their process running.');
      const failure = { test: 'the process', message: 'Something that the tests left open kept it running.' };
      const failures = [...summary.failures, failure];
      writeFileSync(this.file, JSON.stringify({ ...summary, failed: summary.failed + 1, failures }));
      process.exit(1);
    }, endsWithinMs).unref();
  }
}
