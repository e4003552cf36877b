/** Steps that make a machine ready, each quick when there is nothing to do. Messages go to stderr: stdout is the command's. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { showInstallation } from './install-progress.mjs';

/** The machine cannot be made ready; the message says what to do. */
export class Unprepared extends Error {}

const say = (text) => process.stderr.write(`${text}\n`);
const seconds = (sinceMs) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
const digest = (text) => createHash('sha256').update(text).digest('hex');

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

const isInstalled = (program) =>
  (process.env.PATH ?? '').split(path.delimiter).some((folder) => isExecutable(path.join(folder, program)));

/** The npm that runs us, or the one on PATH; NODE_ENV would make it leave out what builds need. Answers its exit code. */
function runNpm(root, args) {
  const env = { ...process.env };
  delete env.NODE_ENV;
  const script = env.npm_execpath;
  const byNode = script && /\.c?js$/.test(script);
  const [command, first] = byNode ? [process.execPath, [script]] : ['npm', []];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2], env });
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

/** `npm ci` when the installed packages are not those of the lock file. */
export async function installPackages(root) {
  const lock = path.join(root, 'package-lock.json');
  const installed = path.join(root, 'node_modules/.package-lock.json');
  const stamp = path.join(root, 'node_modules/.longwave-lock');
  const wanted = digest(readFileSync(lock));
  const isNewer = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
  const isSame = existsSync(installed) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isSame) return;
  if (isNewer) return writeFileSync(stamp, wanted);
  const startedMs = performance.now();
  say('Installing npm packages (one to three minutes, once) …');
  const stopShowing = showInstallation(root, process.stderr);
  // Its own progress would share the line with ours.
  const options = [
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--no-progress',
    '--loglevel=error',
  ];
  const status = await runNpm(root, ['ci', ...options])
    .catch((error) => {
      if (error.code !== 'ENOENT') throw error;
      throw new Unprepared('npm was not found. Install Node.js with npm and try again.');
    })
    .finally(stopShowing);
  if (status !== 0) throw new Unprepared('The npm packages could not be installed; npm says why above.');
  writeFileSync(stamp, wanted);
  say(`Installed npm packages in ${seconds(startedMs)}`);
}

/** A Node 24: the one we run on, or the one that came as an npm package. */
export function findNode24(root) {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  const packaged = path.join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
  if (isExecutable(packaged) && spawnSync(packaged, ['--version']).status === 0) return packaged;
  throw new Unprepared(
    `The services run on Node 24, and there is no package of it for ${process.platform} ${process.arch}. ` +
      `Install Node 24 (this is ${process.version}) and try again.`,
  );
}

/** Folder of Node's compile cache: a program that is started again takes half of the time. */
export const compileCache = (root) => path.join(root, 'node_modules/.cache/node');

const systemPrograms = [
  { program: 'ffmpeg', apt: 'ffmpeg', brew: 'ffmpeg' },
  { program: 'ffprobe', apt: 'ffmpeg', brew: 'ffmpeg' },
  { program: 'redis-server', apt: 'redis-server', brew: 'redis' },
];

/** Programs for tests alone: a browser that opens the pages. */
const testPrograms = [{ program: 'chromium', apt: 'chromium', brew: 'chromium' }];

/** Installs ffmpeg and Redis, and for tests a browser, with the system's package manager where that needs no password. */
export function ensureSystemPackages({ forTests = false } = {}) {
  const programs = forTests ? [...systemPrograms, ...testPrograms] : systemPrograms;
  const missing = () => programs.filter(({ program }) => !isInstalled(program));
  const names = (manager) => [...new Set(missing().map((entry) => entry[manager]))];
  if (missing().length === 0) return;
  const run = (command, args, env = {}) =>
    spawnSync(command, args, { stdio: ['ignore', 2, 2], env: { ...process.env, ...env } }).status === 0;
  let typed;
  if (isInstalled('apt-get')) {
    const install = ['install', '--yes', '--no-install-recommends', ...names('apt')];
    typed = `sudo apt-get update && sudo apt-get ${install.join(' ')}`;
    const isRoot = process.getuid?.() === 0;
    const may = isRoot || (isInstalled('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0);
    if (may) {
      say(`Installing ${names('apt').join(' and ')} with apt-get (once) …`);
      const apt = (args) =>
        isRoot
          ? run('apt-get', args, { DEBIAN_FRONTEND: 'noninteractive' })
          : run('sudo', ['-n', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args]);
      apt(['update', '--quiet=2']);
      apt([install[0], '--quiet=2', ...install.slice(1)]);
    }
  } else if (isInstalled('brew')) {
    typed = `brew install ${names('brew').join(' ')}`;
    say(`Installing ${names('brew').join(' and ')} with Homebrew (once) …`);
    run('brew', ['install', ...names('brew')]);
  }
  if (missing().length === 0) return;
  const list = missing().map(({ program }) => program);
  throw new Unprepared(
    typed
      ? `${list.join(', ')} must be installed first. Type:\n\n  ${typed}\n`
      : `${list.join(', ')} must be installed first, with your system's package manager.`,
  );
}

/** Runs a program quietly; its output is shown only when it fails. */
function runQuietly(command, args, options, failure) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return resolve();
      say(Buffer.concat(output).toString());
      reject(new Unprepared(failure));
    });
  });
}

const testsFile = (root) => path.join(root, '.nx/tests-running');

/** Notes that this process runs the tests of the checkout, so that nobody writes their files anew until it has ended. */
export function noteTestsRunning(root) {
  writeFileSync(testsFile(root), String(process.pid));
}

function areTestsRunning(root) {
  if (!existsSync(testsFile(root))) return false;
  const pid = Number(readFileSync(testsFile(root), 'utf8'));
  return pid > 0 && existsSync(`/proc/${pid}`);
}

/**
 * Runs nx targets over all projects that have them; what has not changed since the last time comes from nx's cache, which removes the files
 * and writes them anew. Not while tests run, whoever asks: nx ran these targets before them, and they read the files meanwhile.
 */
async function runTargets(root, targets, failure) {
  if (areTestsRunning(root)) return;
  const env = { ...process.env, NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false', NX_TUI: 'false', CI: '1' };
  const args = ['run-many', '--output-style=static', '-t', ...targets];
  await runQuietly(path.join(root, 'node_modules/.bin/nx'), args, { cwd: root, env }, failure);
}

/** Generates RPC stubs, row types and the database client. */
export const generateCode = (root) => runTargets(root, ['generate'], 'The code could not be generated, see above.');

/** Builds the web application for a package of the service that serves it. A checkout without its sources has none. */
export async function buildConsole(root) {
  if (!existsSync(path.join(root, 'apps/web/package.json'))) return;
  await runTargets(root, ['build', '-p', 'apps/web'], 'The web application could not be built, see above.');
}

/** Generates code and bundles the apps. */
export async function build(root) {
  const startedMs = performance.now();
  await runTargets(root, ['build'], 'The apps could not be built, see above.');
  say(`Built the apps in ${seconds(startedMs)}`);
}
