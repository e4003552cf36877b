import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

test.each(['start', 'fleet', 'demo', 'test', 'bench', 'last-release', 'contracts', 'migrate', 'package'])(
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

test('start refuses wrong settings before anything is built', () => {
  const { status, stdout, stderr } = run('launch.mjs', 'start', '--port-bse', '9000');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/there is no option '--port-bse'\. Did you mean --port-base\?/m);
  expect(stderr).not.toContain('Built');
});

/** Runs `last-release` where Git finds an empty repository, whose history is whole or cut off. */
function lastReleaseIn({ isShallow }: { readonly isShallow: boolean }) {
  const repository = mkdtempSync(path.join(tmpdir(), 'longwave-git-'));
  try {
    spawnSync('git', ['init', '--quiet', '--bare', repository]);
    if (isShallow) writeFileSync(path.join(repository, 'shallow'), `${'1'.repeat(40)}\n`);
    const { status, stdout } = spawnSync(process.execPath, [path.join(folder, 'last-release.ts')], {
      encoding: 'utf8',
      env: { ...bareEnvironment, GIT_DIR: repository },
    });
    return { status, stdout };
  } finally {
    rmSync(repository, { recursive: true });
  }
}

test('last-release refuses a release that there is not', () => {
  expect(run('last-release.ts', '--version', '0.0.1')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^There is no release “0\.0\.1”; docs\/releases\.json has 0\.1\.0, .*\n.* -- --help/),
  });
});

test('last-release says what to type when the history lacks the release', () => {
  const says = (words: string) => ({ status: 1, stdout: expect.stringContaining(words) });
  expect(lastReleaseIn({ isShallow: true })).toEqual(says('In a shallow clone type: git fetch --unshallow'));
  expect(lastReleaseIn({ isShallow: false })).toEqual(says('is not in the history of this folder. Type: git fetch.'));
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

/** Installs the packages of a lock file that names two for this platform, with this npm. */
function installWith(npm: string) {
  const root = mkdtempSync(path.join(tmpdir(), 'longwave-npm-'));
  try {
    mkdirSync(path.join(root, 'bin'));
    const elsewhere = { 'node_modules/c': { os: ['nowhere'] }, 'node_modules/d': { link: true } };
    const packages = { '': {}, 'node_modules/a': {}, 'node_modules/@b/b': {}, ...elsewhere };
    writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ packages }));
    writeFileSync(path.join(root, 'bin/npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
    const code = `import { installPackages } from '${path.join(folder, 'prepare.mjs')}'; await installPackages('${root}');`;
    const install = () =>
      spawnSync(process.execPath, ['--input-type=module', '-e', code], {
        encoding: 'utf8',
        env: { PATH: `${path.join(root, 'bin')}:/usr/bin:/bin` },
      });
    return [install(), install()].map(({ status, stderr }) => ({ status, stderr }));
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('packages are installed once, and a failure of npm is told', () => {
  const [first, second] = installWith(
    'echo "npm $1" >&2; mkdir node_modules; echo {} > node_modules/.package-lock.json',
  );
  expect(first).toEqual({
    status: 0,
    stderr: expect.stringMatching(
      /^Installing npm packages \(one to three minutes, once\) …\nnpm ci\nInstalled npm packages in [\d.]+ s\n$/,
    ),
  });
  expect(second).toEqual({ status: 0, stderr: '' });
  expect(installWith('echo broken >&2; exit 7')[0]).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/broken\n[^]*npm says why above/),
  });
});

/** What is written while a package of two is there, until the second write. */
function shownWhileInstalling(environment: Readonly<Record<string, string>>, isTTY: boolean): readonly string[] {
  const root = mkdtempSync(path.join(tmpdir(), 'longwave-npm-'));
  try {
    mkdirSync(path.join(root, 'node_modules/a'), { recursive: true });
    writeFileSync(path.join(root, 'node_modules/a/package.json'), '{}');
    const packages = { '': {}, 'node_modules/a': {}, 'node_modules/b': {}, 'node_modules/c': { os: ['nowhere'] } };
    writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ packages }));
    const code = `
      import { showInstallation } from '${path.join(folder, 'install-progress.mjs')}';
      const written = [];
      const stream = { isTTY: ${isTTY}, write: (text) => { written.push(text); if (written.length === 2) end(); } };
      const stop = showInstallation('${root}', stream, ${JSON.stringify(environment)}, 5);
      function end() { stop(); console.log(JSON.stringify(written)); }`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    return JSON.parse(stdout) as readonly string[];
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('while npm installs, a terminal shows one line that is overwritten and taken away; elsewhere and with NO_COLOR lines are added', () => {
  const text = '  0 s: 1 of about 2 packages';
  expect(shownWhileInstalling({}, true)).toEqual([`\r\u001b[2K${text}`, `\r\u001b[2K${text}`, '\r\u001b[2K']);
  expect(shownWhileInstalling({}, false)).toEqual([`${text}\n`, `${text}\n`]);
  expect(shownWhileInstalling({ NO_COLOR: '1' }, true)).toEqual([`${text}\n`, `${text}\n`]);
});

test('nothing is generated anew while the tests of the checkout run, and again once their process has ended', () => {
  const checkout = mkdtempSync(path.join(tmpdir(), 'longwave-checkout-'));
  try {
    mkdirSync(path.join(checkout, '.nx'));
    // There is no nx in this checkout, so that whoever generates fails.
    const generate = (...before: string[]) => {
      const prepare = JSON.stringify(path.join(folder, 'prepare.mjs'));
      const script = `const own = await import(${prepare}); ${before.join(' ')} await own.generateCode(${JSON.stringify(checkout)});`;
      return spawnSync(process.execPath, ['--input-type=module', '-e', script], { env: bareEnvironment }).status;
    };
    expect(generate(`own.noteTestsRunning(${JSON.stringify(checkout)});`)).toBe(0);
    expect(generate()).not.toBe(0);
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
});
