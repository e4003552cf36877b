import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startChild, waitUntilReady, type Child } from './child.ts';
import { freePort } from './free-ports.ts';

export interface KafkaServerOptions {
  /** Folder of the jars of Apache Kafka. */
  readonly jars: string;
  /** Holds its configuration and its data; made when absent. */
  readonly folder: string;
  readonly port?: number;
  readonly logFile: string;
  readonly pidFolder: string;
}

export interface KafkaServer {
  readonly port: number;
  /** "host:port". */
  readonly brokers: readonly string[];
  readonly child: Child;
  readonly stop: () => Promise<void>;
}

/** A broker of tests ends before the work of Java's second compiler pays. */
const jvm = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

const logging = `log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c: %m%n
`;

const settings = (data: string, port: number, controllerPort: number) => `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
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

/** Whether a broker knows who coordinates consumers: on its first start it makes a topic for that, which takes seconds. */
async function coordinates(brokers: readonly string[]): Promise<boolean> {
  // Loaded only here: the fleet of one machine does without.
  const { Kafka, logLevel } = await import('kafkajs');
  const kafka = new Kafka({
    clientId: 'runner',
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 3 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    await admin.describeGroups(['runner']);
    return true;
  } finally {
    await admin.disconnect();
  }
}

/**
 * Starts Apache Kafka on 127.0.0.1 as one broker and controller (KRaft), without TLS. Topics are not made by themselves.
 * Needs Java 17 or newer.
 */
export async function startKafkaServer(options: KafkaServerOptions): Promise<KafkaServer> {
  const { jars, folder, logFile, pidFolder } = options;
  const port = options.port ?? (await freePort());
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const inside = (name: string) => path.join(folder, name);
  writeFileSync(inside('log4j.properties'), logging);
  writeFileSync(inside('server.properties'), settings(inside('data'), port, await freePort()));
  const java = [...jvm, `-Dlog4j.configuration=file:${inside('log4j.properties')}`, '-cp', path.join(jars, '*')];
  if (!existsSync(inside('data/meta.properties'))) {
    const format = [
      'format',
      `--cluster-id=${randomBytes(16).toString('base64url')}`,
      '-c',
      inside('server.properties'),
    ];
    await promisify(execFile)('java', [...java, 'kafka.tools.StorageTool', ...format]);
  }
  const child = await startChild({
    name: 'kafka',
    command: 'java',
    args: [...java, 'kafka.Kafka', inside('server.properties')],
    env: {},
    cwd: folder,
    logFile,
    pidFolder,
    stopSignal: 'SIGTERM',
  });
  const brokers = [`127.0.0.1:${port}`];
  await waitUntilReady(child, logFile, () => coordinates(brokers), 90_000);
  return { port, brokers, child, stop: async () => void (await child.stop()) };
}
