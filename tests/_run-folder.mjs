/** Jest's global setup: a folder for files that the tests of one run share, `$TEST_RUN_FOLDER`; removed at the end. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export default function makeRunFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-tests-'));
  // PostgreSQL's user must pass through.
  chmodSync(folder, 0o711);
  process.env.TEST_RUN_FOLDER = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
