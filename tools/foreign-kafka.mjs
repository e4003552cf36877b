/**
 * A real Apache Kafka for tests: the official jars from Maven Central, fetched once by Maven into `$LONGWAVE_CACHE` (default
 * `~/.cache/longwave`), run as one broker and controller (KRaft) on free ports of 127.0.0.1.
 * As a program it prints the brokers' address and runs until it is told to end.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const kafkaVersion = '3.9.1';
const logging = { group: 'org.slf4j', artifact: 'slf4j-reload4j', version: '1.7.36' };
const fetchTimeoutMs = 5 * 60_000;
const startTimeoutMs = 90_000;

/**
 * Starts one broker with an empty data folder. Never throws: when Java or Maven is missing, the jars cannot be fetched or the broker
 * does not start, the answer says why.
 * @param {{ onProgress?: (text: string) => void }} [options]
 * @returns {Promise<{ brokers: string[], killAndRestart: () => Promise<void>, stop: () => Promise<void> } | { unavailable: string }>}
 *   `killAndRestart`: SIGKILL, then again on the same port over the same data; resolves when it answers
 */
export async function startForeignKafka({ onProgress = () => {} } = {}) {
  try {
    const java = await run('java', ['-version'], 10_000);
    if (java !== undefined) return { unavailable: `Java cannot be run: ${java}` };
    const jars = await fetchJars(onProgress);
    return await startBroker(jars, onProgress);
  } catch (error) {
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

async function startBroker(jars, onProgress) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'longwave-kafka-'));
  const [brokerPort, controllerPort] = await freePorts(2);
  const properties = path.join(folder, 'server.properties');
  const log = path.join(folder, 'log4j.properties');
  await writeFile(properties, serverProperties(path.join(folder, 'data'), brokerPort, controllerPort));
  await writeFile(
    log,
    'log4j.rootLogger=WARN, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\nlog4j.appender.out.layout=org.apache.log4j.PatternLayout\nlog4j.appender.out.layout.ConversionPattern=%p %c: %m%n\n',
  );
  // A broker of tests ends before the work of Java's second compiler pays.
  const jvm = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const java = [...jvm, `-Dlog4j.configuration=file:${log}`, '-cp', path.join(jars, '*')];
  const clusterId = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url');
  onProgress('Starting Apache Kafka');
  try {
    const failure = await run(
      'java',
      [...java, 'kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', properties],
      60_000,
    );
    if (failure !== undefined) throw new Error(`The storage of Apache Kafka could not be formatted: ${failure}`);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  let output = '';
  let broker;
  let ended;
  const launch = () => {
    broker = spawn('java', [...java, 'kafka.Kafka', properties], { stdio: ['ignore', 'pipe', 'pipe'] });
    const remember = (bytes) => (output = (output + bytes).slice(-2_000));
    broker.stdout.on('data', remember);
    broker.stderr.on('data', remember);
    ended = new Promise((resolve) => broker.once('exit', resolve));
  };
  launch();
  const endWithUs = () => {
    broker.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', endWithUs);

  async function stop() {
    process.removeListener('exit', endWithUs);
    broker.kill('SIGTERM');
    const force = setTimeout(() => broker.kill('SIGKILL'), 10_000);
    if (broker.exitCode === null && broker.signalCode === null) await ended;
    clearTimeout(force);
    await rm(folder, { recursive: true, force: true });
  }

  async function untilReady() {
    const deadline = Date.now() + startTimeoutMs;
    while (!(await answers(brokerPort))) {
      if (broker.exitCode !== null || broker.signalCode !== null || Date.now() > deadline) {
        await stop();
        throw new Error(`Apache Kafka did not start: ${output.trim()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  await untilReady();
  return {
    brokers: [`127.0.0.1:${brokerPort}`],
    killAndRestart: async () => {
      broker.kill('SIGKILL');
      await ended;
      launch();
      await untilReady();
    },
    stop,
  };
}

function serverProperties(data, brokerPort, controllerPort) {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${brokerPort},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${brokerPort}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=${data}
auto.create.topics.enable=false
num.network.threads=2
num.io.threads=4
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
`;
}

/** True when the broker answers ApiVersions (api key 18, version 0) without an error. */
function answers(port) {
  const request = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff]);
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(request));
    const finish = (answered) => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(2_000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('data', (bytes) => finish(bytes.length >= 10 && bytes.readInt16BE(8) === 0));
  });
}

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => net.createServer());
  const ports = [];
  for (const server of servers) {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports.push(server.address().port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
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
