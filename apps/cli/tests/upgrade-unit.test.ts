import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { workspaceRoot } from '@longwave/fleet';
import { bareEnvironment } from '@longwave/test-kit';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const folder = mkdtempSync(path.join(tmpdir(), 'longwave-unit-'));
afterAll(() => rmSync(folder, { recursive: true }));
const present = path.join(folder, 'present');
symlinkSync(workspaceRoot, present);

/** `upgrade --unit` on a machine whose unit runs in this folder; its data folder has no service. */
function upgrade(workingDirectory: string, ...options: readonly string[]) {
  const systemctl = path.join(folder, 'systemctl');
  writeFileSync(systemctl, `#!/bin/sh\n[ "$1" = show ] && echo '${workingDirectory}'\n`);
  chmodSync(systemctl, 0o755);
  const { status, stderr } = spawnSync(
    process.execPath,
    [script, 'upgrade', '--unit', 'pod', '--data', folder, ...options],
    {
      encoding: 'utf8',
      env: { ...bareEnvironment, PATH: `${folder}:${process.env['PATH']}` },
    },
  );
  return { status, stderr };
}

test.each([folder, '/no/such/folder'])(
  'a unit that runs another folder, %s, is refused before anything changes',
  (other) => {
    const { status, stderr } = upgrade(other);
    expect(status).toBe(1);
    expect(stderr).toContain(`The unit pod runs ${other}, not this folder, ${workspaceRoot}.`);
    expect(stderr).toContain('systemctl edit pod');
  },
);

test.each([['check'], ['--', '--port-base', '9000']])('with a unit, %j is refused and not ignored', (...words) => {
  expect(upgrade(workspaceRoot, ...words)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('belongs to no option'),
  });
});

test('a unit that systemd does not know is refused', () => {
  expect(upgrade('')).toMatchObject({ status: 1, stderr: expect.stringContaining('The unit pod is not known') });
});

test.each([workspaceRoot, `!${workspaceRoot}`, present])('a unit that runs this folder, as %s, goes on', (here) => {
  expect(upgrade(here).stderr).toContain('No service runs on this data folder');
});
