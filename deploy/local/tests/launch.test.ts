import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { bareEnvironment } from '@longwave/test-kit';

const folder = path.resolve(import.meta.dirname, '..');

function run(script: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(folder, script), ...args], {
    encoding: 'utf8',
    env: bareEnvironment,
  });
  return { status, stdout, stderr };
}

test.each(['start', 'fleet', 'demo', 'test', 'bench', 'contracts', 'migrate', 'package'])(
  '%s explains itself',
  (command) => {
    const { status, stdout, stderr } = run('launch.mjs', command, '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`npm ${command === 'start' || command === 'test' ? '' : 'run '}${command}`);
  },
);

test('an unknown command lists the known ones', () => {
  const { status, stderr } = run('launch.mjs', 'launch');
  expect(status).toBe(2);
  expect(stderr).toContain('npm run demo');
});

test('demo without a file, or with one that is not there, says so without starting anything', () => {
  expect(run('demo.ts')).toMatchObject({ status: 2, stderr: expect.stringContaining('--audio FILE') });
  expect(run('demo.ts', '--audio', '/nowhere.mp3')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('There is no file /nowhere.mp3.'),
  });
});

test('start and demo name a wrong option and where the options are explained, with the exit code of a wrong usage', () => {
  const help = 'npm start -- --help explains the options.';
  for (const [wrong, ...typed] of [
    ['“many”', '--port-base', 'many'],
    ["'--colour'", '--colour'],
  ] as const) {
    const { status, stderr } = run('start.ts', ...typed);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(wrong) });
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(help);
  }
  expect(run('demo.ts', '--colour')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('npm run demo -- --help explains the options.'),
  });
});

test('migrate says whose migrations it needs', () => {
  expect(run('migrate.ts', 'create', 'name')).toMatchObject({ status: 1, stderr: expect.stringContaining('--app') });
});

/** Looks for system programs on a machine that has nothing but this apt-get. */
function ensureWith(aptGet: string) {
  const machine = mkdtempSync(path.join(tmpdir(), 'longwave-apt-'));
  try {
    writeFileSync(path.join(machine, 'apt-get'), `#!/bin/sh\ncd ${machine}\n${aptGet}\n`, { mode: 0o755 });
    writeFileSync(path.join(machine, 'sudo'), '#!/bin/sh\nshift\n[ "$1" = true ] || exec /usr/bin/env "$@"\n', {
      mode: 0o755,
    });
    const code = `import { ensureSystemPackages } from '${path.join(folder, 'prepare.mjs')}'; ensureSystemPackages();`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      env: { PATH: machine },
    });
    return { status, stderr };
  } finally {
    rmSync(machine, { recursive: true });
  }
}

test('missing system packages are installed where that needs no password', () => {
  const install = 'case "$1" in install) for p in ffmpeg ffprobe redis-server; do : >$p; /bin/chmod +x $p; done;; esac';
  expect(ensureWith(install)).toEqual({
    status: 0,
    stderr: 'Installing ffmpeg and redis-server with apt-get (once) …\n',
  });
});

test('where they cannot be installed, the one command to type is named', () => {
  const { status, stderr } = ensureWith('exit 1');
  expect(status).toBe(1);
  expect(stderr).toContain(
    'sudo apt-get update && sudo apt-get install --yes --no-install-recommends ffmpeg redis-server',
  );
});
