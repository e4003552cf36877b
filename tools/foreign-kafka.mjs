/**
 * A real Apache Kafka for tests: the official jars from Maven Central, fetched once by Maven into `$LONGWAVE_CACHE` (default
 * `~/.cache/longwave`), run as one broker and controller (KRaft) on free ports of 127.0.0.1.
 * As a program it prints the brokers' address and runs until it is told to end.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { developmentCa, removeDataFolder, startKafkaServer, temporaryDataFolder } from '../libs/fleet/src/index.ts';

const kafkaVersion = '3.9.1';
const logging = { group: 'org.slf4j', artifact: 'slf4j-reload4j', version: '1.7.36' };
const fetchTimeoutMs = 5 * 60_000;

/**
 * The jars of Apache Kafka. Never throws: when Java or Maven is missing, or the jars cannot be fetched, the answer says why.
 * @param {{ onProgress?: (text: string) => void }} [options]
 * @returns {Promise<{ jars: string } | { unavailable: string }>}
 */
export async function fetchKafka({ onProgress = () => {} } = {}) {
  try {
    const java = await run('java', ['-version'], 10_000);
    if (java !== undefined) return { unavailable: `Java cannot be run: ${java}` };
    return { jars: await fetchJars(onProgress) };
  } catch (error) {
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Starts one broker with an empty data folder. Never throws: when it cannot be had or does not start, the answer says why.
 * @param {{ onProgress?: (text: string) => void, withLogin?: boolean }} [options]
 *   `withLogin`: it has a second port, which takes TLS connections with a login alone
 * @returns {Promise<{ brokers: readonly string[], login: Record<string, string>, killAndRestart: () => Promise<void>, stop: () => Promise<void> } | { unavailable: string }>}
 *   `login`: the variables of tests that use the second port; `killAndRestart`: SIGKILL, then again on the same port over the same data; resolves when it answers
 */
export async function startForeignKafka({ onProgress = () => {}, withLogin = false } = {}) {
  const fetched = await fetchKafka({ onProgress });
  if ('unavailable' in fetched) return fetched;
  onProgress('Starting Apache Kafka');
  const data = temporaryDataFolder();
  const password = randomBytes(16).toString('hex');
  const identity = withLogin && (await developmentCa(data.inside('kafka-tls'), ['kafka'], new Date())).kafka;
  const start = (port) =>
    startKafkaServer({
      jars: fetched.jars,
      folder: data.inside('kafka'),
      port,
      ...(identity && { login: { identity, username: 'tester', password } }),
      logFile: data.logFile('kafka'),
      pidFolder: data.pids,
    });
  try {
    let broker = await start();
    return {
      brokers: broker.brokers,
      login: identity
        ? {
            TEST_KAFKA_LOGIN_BROKERS: broker.loginBrokers.join(','),
            TEST_KAFKA_CA: identity.ca,
            TEST_KAFKA_USERNAME: 'tester',
            TEST_KAFKA_PASSWORD: password,
          }
        : {},
      killAndRestart: async () => {
        broker.child.kill('SIGKILL');
        await broker.child.exited;
        broker = await start(broker.port);
      },
      stop: async () => {
        await broker.stop();
        removeDataFolder(data);
      },
    };
  } catch (error) {
    removeDataFolder(data);
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

/** Answers the folder of the jars. */
async function fetchJars(onProgress) {
  const cache = process.env.LONGWAVE_CACHE ?? path.join(os.homedir(), '.cache', 'longwave');
  const folder = path.join(cache, `kafka-${kafkaVersion}`);
  if (await exists(folder)) return folder;
  const maven = await run('mvn', ['-version'], 20_000);
  if (maven !== undefined) throw new Error(`Maven cannot be run: ${maven}`);
  onProgress(`Fetching Apache Kafka ${kafkaVersion} from Maven Central (46 MB, once)`);
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(path.join(cache, 'kafka-fetch-'));
  try {
    await writeFile(path.join(work, 'pom.xml'), pom());
    const jars = path.join(work, 'jars');
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${jars}`, '-DincludeScope=runtime'];
    const failure = await run('mvn', ['-B', '-q', '-f', path.join(work, 'pom.xml'), ...goal], fetchTimeoutMs);
    if (failure !== undefined) throw new Error(`Apache Kafka could not be fetched: ${failure}`);
    // Complete or absent; another process may have been faster.
    await rename(jars, folder).catch(async (error) => {
      if (!(await exists(folder))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return folder;
}

function pom() {
  const { group, artifact, version } = logging;
  const dependency = (g, a, v) =>
    `<dependency><groupId>${g}</groupId><artifactId>${a}</artifactId><version>${v}</version></dependency>`;
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>longwave</groupId><artifactId>foreign-kafka</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>${dependency('org.apache.kafka', 'kafka_2.13', kafkaVersion)}${dependency(group, artifact, version)}</dependencies></project>
`;
}

/** Runs a command to its end; answers undefined on success, otherwise why it failed. */
function run(command, args, timeoutMs) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    let output = '';
    const remember = (bytes) => (output = (output + bytes).slice(-1_000));
    child.stdout.on('data', remember);
    child.stderr.on('data', remember);
    child.once('error', (error) => resolve(error.code === 'ENOENT' ? `${command} is not installed` : error.message));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : output.trim() || `${command} ended with ${code ?? signal}`),
    );
  });
}

async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  );
}

if (import.meta.filename === process.argv[1]) {
  const kafka = await startForeignKafka({ onProgress: (text) => console.error(text) });
  if ('unavailable' in kafka) {
    console.error(kafka.unavailable);
    process.exitCode = 1;
  } else {
    console.log(kafka.brokers.join());
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => kafka.stop());
  }
}
