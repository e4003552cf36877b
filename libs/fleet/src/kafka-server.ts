import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startChild, waitUntilReady, type Child } from './child.ts';
import type { IdentityFiles } from './development-ca.ts';
import { freePort } from './free-ports.ts';
import type { KafkaEnvironment } from './service-environment.ts';
import { writePrivately } from './write-privately.ts';

export interface KafkaServerOptions {
  /** Folder of the jars of Apache Kafka. */
  readonly jars: string;
  /** Holds its configuration and its data; made when absent. */
  readonly folder: string;
  readonly port?: number;
  /** With it, connections are TLS and no others are taken. */
  readonly tls?: IdentityFiles | undefined;
  /** A second port beside the first, which takes TLS connections with a login alone: by SCRAM-SHA-512, or in plain text. Letters and digits. */
  readonly login?: { readonly identity: IdentityFiles; readonly username: string; readonly password: string };
  readonly logFile: string;
  readonly pidFolder: string;
}

export interface KafkaServer {
  readonly port: number;
  /** "host:port". */
  readonly brokers: readonly string[];
  /** How a service connects to them. */
  readonly security: KafkaEnvironment;
  /** The port with a login, if there is one. */
  readonly loginBrokers: readonly string[];
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

interface Ports {
  readonly clients: number;
  readonly login: number;
  readonly controller: number;
}

type Listener = 'clients' | 'login';

const keystoreOf = (folder: string, listener: Listener) => path.join(folder, `${listener}.pem`);

/** Writes key and certificate into one file, as Kafka reads them. */
function writeKeystore(folder: string, listener: Listener, { key, cert }: IdentityFiles): void {
  writePrivately(keystoreOf(folder, listener), [key, cert].map((each) => readFileSync(each, 'utf8')).join(''));
}

const tlsSettings = (listener: Listener, folder: string, { ca }: IdentityFiles) =>
  Object.entries({
    'keystore.type': 'PEM',
    'keystore.location': keystoreOf(folder, listener),
    'truststore.type': 'PEM',
    'truststore.location': ca,
  })
    .map(([name, value]) => `listener.name.${listener}.ssl.${name}=${value}\n`)
    .join('');

const loginModule = (name: string) => `org.apache.kafka.common.security.${name} required`;

const loginSettings = ({ username, password }: NonNullable<KafkaServerOptions['login']>) =>
  `listener.name.login.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
listener.name.login.plain.sasl.jaas.config=${loginModule('plain.PlainLoginModule')} user_${username}="${password}";
listener.name.login.scram-sha-512.sasl.jaas.config=${loginModule('scram.ScramLoginModule')};
`;

function settings(folder: string, ports: Ports, { tls, login }: Pick<KafkaServerOptions, 'tls' | 'login'>): string {
  const clients = [
    ['CLIENTS', ports.clients, tls ? 'SSL' : 'PLAINTEXT'],
    ...(login ? [['LOGIN', ports.login, 'SASL_SSL'] as const] : []),
  ] as const;
  const advertised = clients.map(([name, port]) => `${name}://127.0.0.1:${port}`);
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${ports.controller}
listeners=${[...advertised, `CONTROLLER://127.0.0.1:${ports.controller}`].join()}
advertised.listeners=${advertised.join()}
controller.listener.names=CONTROLLER
inter.broker.listener.name=CLIENTS
listener.security.protocol.map=CONTROLLER:PLAINTEXT,${clients.map(([name, , protocol]) => `${name}:${protocol}`).join()}
log.dirs=${path.join(folder, 'data')}
auto.create.topics.enable=false
num.network.threads=2
num.io.threads=4
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
${tls ? tlsSettings('clients', folder, tls) : ''}${login ? tlsSettings('login', folder, login.identity) + loginSettings(login) : ''}`;
}

/** Whether a broker knows who coordinates consumers: on its first start it makes a topic for that, which takes seconds. */
async function coordinates(brokers: readonly string[], tls: IdentityFiles | undefined): Promise<boolean> {
  // Loaded only here: the fleet of one machine does without.
  const { Kafka, logLevel } = await import('kafkajs');
  const kafka = new Kafka({
    clientId: 'runner',
    brokers: [...brokers],
    ...(tls && { ssl: { ca: readFileSync(tls.ca) } }),
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
 * Starts Apache Kafka on 127.0.0.1 as one broker and controller (KRaft). Topics are not made by themselves.
 * Needs Java 17 or newer.
 */
export async function startKafkaServer(options: KafkaServerOptions): Promise<KafkaServer> {
  const { jars, folder, tls, login, logFile, pidFolder } = options;
  const port = options.port ?? (await freePort());
  const ports = { clients: port, login: await freePort(), controller: await freePort() };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const inside = (name: string) => path.join(folder, name);
  writeFileSync(inside('log4j.properties'), logging);
  if (tls) writeKeystore(folder, 'clients', tls);
  if (login) writeKeystore(folder, 'login', login.identity);
  writePrivately(inside('server.properties'), settings(folder, ports, { tls, login }));
  const java = [...jvm, `-Dlog4j.configuration=file:${inside('log4j.properties')}`, '-cp', path.join(jars, '*')];
  if (!existsSync(inside('data/meta.properties'))) {
    const format = [
      'format',
      `--cluster-id=${randomBytes(16).toString('base64url')}`,
      '-c',
      inside('server.properties'),
      ...(login ? ['--add-scram', `SCRAM-SHA-512=[name=${login.username},password=${login.password}]`] : []),
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
  await waitUntilReady(child, logFile, () => coordinates(brokers, tls), 90_000);
  const loginBrokers = login ? [`127.0.0.1:${ports.login}`] : [];
  const security = tls ? ({ KAFKA_TLS: 'true' } as const) : {};
  return { port, brokers, security, loginBrokers, child, stop: async () => void (await child.stop()) };
}
