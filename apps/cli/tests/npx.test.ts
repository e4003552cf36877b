import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { npxLongwave } from '@longwave/test-kit';
import { overview } from '../src/help.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const nowhere = mkdtempSync(path.join(tmpdir(), 'longwave-cli-'));
afterAll(() => rmSync(nowhere, { recursive: true }));

test.each(['.', 'apps/cli/src'])('in the folder %s its help is all of standard output', (folder) => {
  expect(npxLongwave(folder, '--help')).toMatchObject({ status: 0, stdout: `${overview}\n` });
});

test('--version is the version that the changelog begins with', () => {
  const [, version] = /^## ([0-9.]+) - /m.exec(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'))!;
  expect(npxLongwave('.', '--version')).toMatchObject({ status: 0, stdout: `${version}\n` });
});

test('errors are on standard error, and the exit code tells a wrong command line from a failure', () => {
  expect(npxLongwave('docs', 'account', 'explode')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('There is no command “account explode”.\n\nusage: npx longwave account COMMAND\n'),
  });
  expect(npxLongwave('docs', 'account', 'list', '--data', nowhere)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('No service is running on this data folder.'),
  });
});
