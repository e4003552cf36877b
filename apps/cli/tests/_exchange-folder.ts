import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from '@jest/globals';
import { bareEnvironment } from '@longwave/test-kit';

export const script = path.resolve(import.meta.dirname, '../src/main.ts');

/** A folder of files, removed after the tests, in which `longwave exchange` runs. */
export function exchangeFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-exchange-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return {
    folder,
    file: (name: string, content: unknown) => {
      const at = path.join(folder, name);
      writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content));
      return at;
    },
    exchange: (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'exchange', ...args], {
        ...{ encoding: 'utf8', env: bareEnvironment, cwd: folder },
      });
      return { status, stderr, found: stdout.startsWith('{') ? (JSON.parse(stdout) as unknown) : stdout };
    },
  };
}
