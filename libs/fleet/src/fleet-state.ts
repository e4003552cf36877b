import { rmSync } from 'node:fs';
import type { ServiceName } from '@longwave/services';
import type { DataFolder } from './data-folder.ts';
import type { IdentityFiles } from './development-ca.ts';
import type { ObjectStoreAccess } from './object-store-server.ts';
import { findHolder, lockFile } from './lock-file.ts';
import { findProcess, isAlive, type ProcessIdentity } from './process-identity.ts';
import { readJson } from './read-json.ts';
import type { FleetUrls, KafkaEnvironment } from './service-environment.ts';
import { trustAuthority } from './trust-authority.ts';
import { writeJsonPrivately } from './write-privately.ts';

/** How to reach a running fleet, from any process of the same user. */
export interface FleetAccess<S extends string = ServiceName> {
  readonly urls: FleetUrls;
  /** The operator's certificate: what the admin CLI calls services with. */
  readonly operator: IdentityFiles;
  /** gRPC addresses ("host:port"), those of several processes separated by commas. */
  readonly addresses: Readonly<Record<S, string>>;
  /** Private HTTP addresses ("host:port") of `/healthz`, `/readyz` and `/metrics`; those of further processes too, as `management-2`. */
  readonly adminAddresses: Readonly<Record<S, string>>;
  /** By schema, each as its own role. */
  readonly databaseUrls: Readonly<Record<string, string>>;
  /** The fleet's database as superuser. */
  readonly adminDatabaseUrl: string;
  /** As the operator. */
  readonly redisUrl: string;
  /** Brokers of the bus, separated by commas; absent when Redis is the bus. */
  readonly kafkaBrokers?: string | undefined;
  /** How to connect to these brokers. */
  readonly kafkaSecurity?: KafkaEnvironment | undefined;
  /** PEM file of the authority of PostgreSQL, Redis and Kafka, where these have TLS. */
  readonly enginesCa?: string | undefined;
  /** With the operator's key. */
  readonly objectStore: ObjectStoreAccess & { readonly bucket: string };
  /** Keys of engines that others run, by their names in `keyKinds`: this installation cannot replace them. */
  readonly foreignKeys: readonly string[];
  readonly logsFolder: string;
  readonly dataFolder: string;
  /** Folder of PostgreSQL's files: inside the data folder, or elsewhere when it runs as another user who cannot enter that. */
  readonly databaseFolder: string;
}

/** Raised when a second runner is started on the same data. */
export class FleetIsRunning extends Error {
  constructor(pid: number, folder: string, lockedFolder: string) {
    super(
      folder === lockedFolder
        ? `Longwave is already running on ${folder} (process ${pid}). Stop it with Ctrl-C in its terminal, or with: kill -INT ${pid}`
        : `${folder} is a copy of ${lockedFolder}, made while Longwave was running there (process ${pid}). Stop that one and copy the folder again.`,
    );
    this.name = 'FleetIsRunning';
  }
}

interface State<S extends string> {
  readonly runner: ProcessIdentity;
  readonly access: FleetAccess<S>;
}

/** The note in the lock. In a copy of the folder, it is still the path of the original. */
interface LockedFolder {
  readonly folder: string;
}

const lockName = 'runner.lock';
const stateName = 'fleet.json';

/** The process that runs on a data folder, or undefined. */
export const findRunner = (data: DataFolder): ProcessIdentity | undefined => findHolder(data.inside(lockName));

/** Makes this process the only runner on the folder. Throws `FleetIsRunning`; answers the release. */
export function lockDataFolder(data: DataFolder): () => void {
  const release = lockFile<LockedFolder>(
    data.inside(lockName),
    ({ pid, folder = data.root }) => new FleetIsRunning(pid, data.root, folder),
    { folder: data.root },
  );
  return () => {
    rmSync(data.inside(stateName), { force: true });
    release();
  };
}

/** Notes how to reach the fleet of this process, for `findRunningFleet`. Holds secrets, so only its owner reads it. */
export function publishFleet(data: DataFolder, access: FleetAccess<string>): void {
  const runner = findProcess(process.pid);
  if (!runner) return;
  writeJsonPrivately(data.inside(stateName), { runner, access } satisfies State<string>);
}

/** Changes how a running fleet is reached, after a rotation of its logins. Nothing happens while none runs. */
export function changeAccess(data: DataFolder, change: (access: FleetAccess) => FleetAccess): void {
  const file = data.inside(stateName);
  const state = readJson<State<ServiceName>>(file);
  if (state) writeJsonPrivately(file, { ...state, access: change(state.access) } satisfies State<ServiceName>);
}

/** The fleet that runs on this folder, or undefined. This process then trusts the authority of its engines. */
export function findRunningFleet(data: DataFolder): FleetAccess | undefined {
  const state = readJson<State<ServiceName>>(data.inside(stateName));
  if (!state || !isAlive(state.runner)) return undefined;
  if (state.access.enginesCa !== undefined) trustAuthority(state.access.enginesCa);
  return state.access;
}
