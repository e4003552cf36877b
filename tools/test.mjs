#!/usr/bin/env node
/**
 * The program of `npm test` once the machine is prepared: every check, one line each, and a closing line
 * `N passed, N failed[, N skipped]`. Tests count one by one; every other step counts as one.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  removeDataFolder,
  sharedRedisDatabases,
  startEmbeddedPostgres,
  startObjectStoreServer,
  startRedisServer,
  temporaryDataFolder,
} from '../libs/fleet/src/index.ts';
import { noteTestsRunning } from '../deploy/local/prepare.mjs';
import { fetchDebianProgram } from '../libs/test-kit/src/debian-program.ts';
import { fetchComposeModel } from './foreign-compose.mjs';
import { fetchHelm } from './foreign-helm.mjs';
import { startForeignKafka } from './foreign-kafka.mjs';
import { startForeignS3 } from './foreign-s3.mjs';
import { fetchPythonPackages } from './foreign-python.mjs';

const root = path.resolve(import.meta.dirname, '..');
const results = path.join(root, '.nx/test-results');
const nx = path.join(root, 'node_modules/.bin/nx');
const quietNx = { NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false', NX_TUI: 'false' };
/** Code was generated and built before: nx would write the files anew, under those who read them. */
const withoutDependencies = '--exclude-task-dependencies';
const foreignRequired = process.env.REQUIRE_FOREIGN_ENGINES === '1';
const nameWidth = 34;

/** Targets of the whole repository, the shortest first. */
const checks = [
  'protocol',
  'packages',
  'budget',
  'boundaries',
  'contracts',
  'unused',
  'imports',
  'types',
  'format',
  'lint',
];
/** Projects whose tests start nothing. */
const logic = 'tag:tests:pure';
/** Projects whose tests use engines and expect nothing of how long a step takes. */
const unhurried = 'tag:tests:unhurried';

/** Programs of Debian packages: the variable that names the program. */
const debianPrograms = [
  { variable: 'TEST_CADDY', name: 'caddy', packages: ['caddy'] },
  {
    variable: 'TEST_HAPROXY',
    name: 'haproxy',
    packages: ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
  },
  { variable: 'TEST_PROMTOOL', name: 'promtool', packages: ['prometheus'] },
  { variable: 'TEST_XMLLINT', name: 'xmllint', packages: ['libxml2-utils', 'libxml2', 'libicu72'] },
  { variable: 'TEST_PGBOUNCER', name: 'pgbouncer', packages: ['pgbouncer', 'libevent-2.1-7', 'libc-ares2'] },
];

/** Programs in Python: the variable that names the Python with their packages, and where these are pinned. */
const pythonPrograms = [
  {
    ...{ variable: 'TEST_SCHEMATHESIS_PYTHON', name: 'Schemathesis', pinned: 'schemathesis' },
    ...{ cachePrefix: 'schemathesis-', requirements: 'tools/schemathesis-requirements.txt' },
  },
  {
    ...{ variable: 'TEST_FOREIGN_HOST_PYTHON', name: 'the foreign host', pinned: 'PyNaCl' },
    ...{ cachePrefix: 'foreign-host-', requirements: 'tests/foreign-host/requirements.txt' },
  },
  {
    ...{ variable: 'TEST_KUBERNETES_PYTHON', name: 'schemas of Kubernetes', pinned: 'kubernetes-validate' },
    ...{ cachePrefix: 'kubernetes-validate-', requirements: 'deploy/chart/requirements.txt' },
  },
];

const tally = { passed: 0, failed: 0, failures: [], skipped: [], files: [] };
/** Foreign engines that could not be had, each with the reason. */
const missingEngines = [];
const engines = new AsyncDisposableStack();
const onProgress = (text) => console.log(`  ${text}`);

/** Runs a program; answers whether it succeeded and everything it printed, which `show` passes through instead. `after`: it gets the time that others leave. */
function run(command, args, { env = {}, show = false, after = false } = {}) {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'];
    const [program, ...words] = after ? ['nice', '-n', '5', command, ...args] : [command, ...args];
    const child = spawn(program, words, { cwd: root, stdio, env: { ...process.env, ...env } });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(output).toString() }));
  });
}

/** One check that is no test run: a target of the whole repository. */
async function check(target) {
  const startedMs = performance.now();
  const args = ['run', `@longwave/root:${target}`, withoutDependencies];
  const { ok, output } = await run(nx, args, { env: quietNx, after: true });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${ok ? '✓' : '✗'} ${target.padEnd(nameWidth)} ${seconds.padStart(6)} s`);
  if (ok) {
    tally.passed += 1;
    return;
  }
  tally.failed += 1;
  tally.failures.push({ test: target, message: output.trimEnd() });
}

const sumOf = (files) => Math.round(files.reduce((sum, { seconds }) => sum + seconds, 0));

/** Test files of what is sold and charged: pacing, forecasts, reconciliations, makegoods, statements. */
const ofCommerce =
  /pac(?:ing|er)|lease|forecast|selling|seller|reconcil|makegood|billing|money|funnel|verdicts|alert|ledger-units|cohort/;

/** Says where the time goes: two files at a time share the cores. */
function printSlowest() {
  const slowest = tally.files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 12);
  console.log('\nThe slowest files:');
  for (const { name, seconds } of slowest) console.log(`  ${String(Math.round(seconds)).padStart(4)} s  ${name}`);
  const commerce = sumOf(tally.files.filter(({ name }) => ofCommerce.test(name)));
  console.log(`Pacing, forecasts and billing: ${commerce} of ${sumOf(tally.files)} s of all files.`);
}

/** Adds up the files that jest wrote, one per project that has tests. */
function addTestResults(projects) {
  for (const project of projects) {
    const file = path.join(results, `${project}.json`);
    if (!existsSync(file)) {
      tally.failed += 1;
      tally.failures.push({ test: project, message: 'Its tests ended without a result.' });
      console.log(`✗ ${project}: its tests ended without a result`);
      continue;
    }
    const summary = JSON.parse(readFileSync(file, 'utf8'));
    tally.passed += summary.passed;
    tally.failed += summary.failed;
    tally.failures.push(...summary.failures.map((one) => ({ ...one, test: `${project} ${one.test}` })));
    const files = Object.entries(summary.seconds).map(([name, seconds]) => ({ name: `${project} ${name}`, seconds }));
    tally.files.push(...files);
    tally.skipped.push(...summary.skipped.map((name) => `${project}: ${name}`));
    console.log(
      `${summary.failed ? '✗' : '✓'} ${project.padEnd(nameWidth)} ${summary.passed} passed, ${summary.failed} failed, ${sumOf(files)} s`,
    );
  }
}

/** Linux's folder in memory where it has 2 GB of room: databases of tests make and delete so many files that a disk costs as much as they do. */
function memoryFolder() {
  const folder = '/dev/shm';
  if (!existsSync(folder)) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 2 * 1024 ** 3 ? folder : undefined;
}

/** PostgreSQL, Redis and an object store once for all tests, and foreign engines where they can be had. */
async function startTestEngines(stack) {
  const data = temporaryDataFolder();
  stack.defer(() => removeDataFolder(data));
  const databases = temporaryDataFolder(memoryFolder());
  stack.defer(() => removeDataFolder(databases));
  const engineOptions = (name) => ({
    logFile: data.logFile(name),
    pidFolder: data.pids,
    password: 'test-only',
    mode: 'fast',
  });
  const postgres = await startEmbeddedPostgres({ folder: databases.postgres, ...engineOptions('postgres') });
  stack.defer(postgres.stop);
  const redis = await startRedisServer({
    folder: data.inside('redis'),
    databases: sharedRedisDatabases,
    ...engineOptions('redis'),
  });
  stack.defer(redis.stop);
  const objectStore = await startObjectStoreServer({
    folder: data.inside('objects'),
    accessKey: 'test-only',
    secretKey: 'test-only',
    ...engineOptions('s3-server'),
  });
  stack.defer(objectStore.stop);
  const env = {
    TEST_DATABASE_ADMIN_URL: postgres.adminUrl,
    TEST_REDIS_URL: redis.url,
    TEST_OBJECT_STORE_ENDPOINT: objectStore.endpoint,
    TEST_OBJECT_STORE_ACCESS_KEY: objectStore.accessKey,
    TEST_OBJECT_STORE_SECRET_KEY: objectStore.secretKey,
  };
  return { ...env, ...(await startForeignEngines(stack)), ...(await fetchPrograms()) };
}

/** Engines that are not ours: their variables by name. */
async function startForeignEngines(stack) {
  const env = {};
  const kafka = await startForeign('Apache Kafka', 'kafka-', () => startForeignKafka({ onProgress, withLogin: true }));
  if (kafka) {
    stack.defer(() => kafka.stop());
    Object.assign(env, { TEST_KAFKA_BROKERS: kafka.brokers.join(','), ...kafka.login });
  }
  const s3 = await startForeign('a foreign S3 server', 'versitygw-', () => startForeignS3({ onProgress }));
  if (s3) {
    stack.defer(() => s3.stop());
    Object.assign(env, {
      TEST_FOREIGN_S3_ENDPOINT: s3.endpoint,
      TEST_FOREIGN_S3_REGION: s3.region,
      TEST_FOREIGN_S3_ACCESS_KEY: s3.accessKey,
      TEST_FOREIGN_S3_SECRET_KEY: s3.secretKey,
    });
  }
  return env;
}

/** Programs that are not ours: the variables that name them. */
async function fetchPrograms() {
  const env = {};
  for (const { variable, ...program } of debianPrograms) {
    const found = await startForeign(program.name, `${program.name}-debian`, () =>
      fetchDebianProgram({ ...program, onProgress }),
    );
    if (found) env[variable] = found.binary;
  }
  const helm = await fetchingHelm;
  if (helm) Object.assign(env, { TEST_HELM: helm.helm, TEST_MANIFEST_TYPES: helm.manifestTypes });
  const compose = await startForeign('the reader of compose files', 'compose-model-', () =>
    fetchComposeModel({ onProgress }),
  );
  if (compose) env.TEST_COMPOSE_MODEL = compose.binary;
  for (const { variable, requirements, ...program } of pythonPrograms) {
    const wanted = { ...program, requirements: path.join(root, requirements), onProgress };
    const found = await startForeign(program.name, program.cachePrefix, () => fetchPythonPackages(wanted));
    if (found) env[variable] = found.python;
  }
  return env;
}

/** An engine or a program that is not ours: started when it was fetched before or is required, else noted as missing with the reason. */
async function startForeign(name, cachePrefix, start) {
  const cache = process.env.LONGWAVE_CACHE ?? path.join(os.homedir(), '.cache/longwave');
  const isFetched = existsSync(cache) && readdirSync(cache).some((entry) => entry.startsWith(cachePrefix));
  const engine =
    isFetched || foreignRequired
      ? await start()
      : { unavailable: 'not fetched yet; REQUIRE_FOREIGN_ENGINES=1 npm test fetches it' };
  if (!('unavailable' in engine)) return engine;
  missingEngines.push(`${name}: ${engine.unavailable}`);
  console.log(`${foreignRequired ? '✗' : '–'} without ${name}: ${engine.unavailable}`);
  return undefined;
}

/** Every project with a test target, through nx; jest's own failures are printed in full. */
async function runTests() {
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const listed = await run(nx, ['show', 'projects', '--with-target', 'test', '--json'], { env: quietNx });
  if (!listed.ok) throw new Error(listed.output);
  const projects = JSON.parse(listed.output);
  const starting = startTestEngines(engines);
  const ended = await Promise.allSettled([runBehind(starting), testOnEngines(starting)]);
  await engines.disposeAsync();
  for (const { status, reason } of ended) if (status === 'rejected') throw reason;
  addTestResults(projects);
}

/** All tests but those that run behind them. */
async function testOnEngines(starting) {
  const env = await starting;
  // Without a history nx starts last what has the shortest name. `test-first` does nothing but wait for the longest tests: what others wait for is started first.
  await runTargets(['test', 'test-first', '--exclude', `${logic},${unhurried}`], { env });
}

/** Tests of projects, through nx, which prints each project's output as a whole. */
async function runTargets(which, { env = {}, ...options } = {}) {
  const reporters = ['default', path.join(root, 'tools/jest-result.mjs')].map((reporter) => `--reporters=${reporter}`);
  const args = ['run-many', withoutDependencies, '--output-style=static', '-t', ...which, ...reporters];
  const variables = { ...env, ...quietNx, TEST_RESULTS: results, FORCE_COLOR: '0' };
  await run(nx, args, { ...options, env: variables, show: true });
}

/**
 * What watches no clock: the checks, then the tests of pure logic, then unhurried tests, one after the other. It takes what the other tests leave of
 * the cores while they wait for each other, for disks and for time to pass.
 */
async function runBehind(starting) {
  for (const target of checks) await check(target);
  // Some of these tests use programs that were fetched.
  const env = await starting;
  // How long a test takes says nothing there.
  for (const projects of [logic, unhurried])
    await runTargets(['test', '-p', projects, '--parallel=1', '--testTimeout=1200000'], { env, after: true });
}

const startedMs = performance.now();
const giveUp = () => void engines.disposeAsync().finally(() => process.exit(130));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, giveUp);
process.once('disconnect', giveUp);
process.channel?.unref();

// Its compiler takes minutes, some of which it waits for the network: beside the checks.
const fetchingHelm = startForeign('Helm', 'helm-', () => fetchHelm({ onProgress }));

noteTestsRunning(root);
try {
  await runTests();
} catch (error) {
  tally.failed += 1;
  console.log(`✗ tests could not be run: ${error?.stack ?? error}`);
}

if (tally.files.length) printSlowest();
if (tally.skipped.length)
  for (const line of ['\nSkipped:', ...[...tally.skipped, ...missingEngines].map((text) => `  – ${text}`)])
    console.log(line);
// What failed once more, at the end: a long output is often read from there.
if (tally.failures.length) console.log('\nFailed:');
for (const { test, message } of tally.failures) {
  console.log(`  ✗ ${test}`);
  if (message) console.log(message.replaceAll(/^/gm, '      '));
}
const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
console.log(`\n${minutes} minutes on ${os.availableParallelism()} cores`);
const skipped = tally.skipped.length ? `, ${tally.skipped.length} skipped` : '';
console.log(`${tally.passed} passed, ${tally.failed} failed${skipped}`);
process.exit(tally.failed === 0 ? 0 : 1);
