import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const folder = path.resolve(import.meta.dirname, '..');

function run(script: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(folder, script), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  return { status, stdout, stderr };
}

test.each(['start', 'demo', 'test', 'bench', 'contracts', 'migrate'])('%s explains itself', (command) => {
  const { status, stdout, stderr } = run('launch.mjs', command, '--help');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain(`npm ${command === 'start' || command === 'test' ? '' : 'run '}${command}`);
});

test('an unknown command lists the known ones', () => {
  const { status, stderr } = run('launch.mjs', 'launch');
  expect(status).toBe(64);
  expect(stderr).toContain('npm run demo');
});

test('demo without a file, or with one that is not there, says so without starting anything', () => {
  expect(run('demo.ts')).toMatchObject({ status: 64, stderr: expect.stringContaining('--audio FILE') });
  expect(run('demo.ts', '--audio', '/nowhere.mp3')).toMatchObject({
    status: 64,
    stderr: expect.stringContaining('there is no file /nowhere.mp3'),
  });
});

test('start refuses a port base that is no port', () => {
  expect(run('start.ts', '--port-base', 'many')).toMatchObject({ status: 1, stderr: expect.stringContaining('"many"') });
});

test('migrate says whose migrations it needs', () => {
  expect(run('migrate.ts', 'create', 'name')).toMatchObject({ status: 1, stderr: expect.stringContaining('--app') });
});
