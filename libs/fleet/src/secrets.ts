import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { namesOf, schemaOwners, type Manifest, type SecretVariable } from '@longwave/services';
import { ensureKey, keyFileNames, keyPaths } from './keys/key-files.ts';
import { noteFirstKeys } from './keys/rotation-records.ts';
import { writeJsonPrivately } from './write-privately.ts';

/** Everything random that one installation keeps; made once, never printed. */
export interface Secrets<S extends string = string> {
  /** The superuser's. */
  readonly postgresPassword: string;
  /** The operator's, who may do everything there. */
  readonly redisPassword: string;
  /** Passwords of the database roles by schema; none says anything of another. Throws for a schema that nobody owns. */
  readonly rolePassword: (schema: string) => string;
  /** The logins of each service to Redis and the object store. */
  readonly services: Readonly<Record<S, ServiceSecrets>>;
  /** The operator's key, which may do everything in the object store. */
  readonly s3AccessKey: string;
  readonly s3SecretKey: string;
  /** The superuser's password before, while a change of it is under way. */
  readonly postgresFormerPassword?: string;
  /** Keys of the object store that were replaced and are still accepted, the newest first. */
  readonly formerS3: readonly FormerS3<S>[];
  readonly variables: Readonly<Record<SecretVariable, string>>;
}

interface S3Login {
  readonly s3AccessKey: string;
  readonly s3SecretKey: string;
}

/** The keys of the object store that one rotation replaced. */
interface FormerS3<S extends string = string> {
  readonly operator: S3Login;
  readonly services: Readonly<Record<S, S3Login>>;
}

/** One service's own, each part random. */
export interface ServiceSecrets extends S3Login {
  readonly redisPassword: string;
}

/** secrets.json. */
export interface Stored<S extends string> {
  readonly postgres: string;
  readonly postgresFormer?: string | undefined;
  readonly redis: string;
  readonly roles: Readonly<Record<string, string>>;
  readonly services: Readonly<Record<S, ServiceSecrets>>;
  readonly s3AccessKey: string;
  readonly s3SecretKey: string;
  readonly formerS3?: readonly FormerS3<S>[];
  readonly listener: string;
  readonly cursor: string;
  readonly deliveryToken: string;
  readonly webhook: string;
}

/** In folders made before every part had secrets of its own, `roles` is the text that all roles' passwords began with. */
type FoundStored = Omit<Partial<Stored<string>>, 'roles'> & {
  readonly roles?: Readonly<Record<string, string>> | string;
};

export const hex = (bytes: number) => randomBytes(bytes).toString('hex');

export const s3Key = (): S3Login => ({ s3AccessKey: `LW${hex(9).toUpperCase()}`, s3SecretKey: hex(20) });
const serviceSecrets = (): ServiceSecrets => ({ redisPassword: hex(24), ...s3Key() });

/** An entry for each name: the present one, else a new one. */
const complete = <K extends string, V>(
  names: readonly K[],
  found: Readonly<Partial<Record<string, V>>>,
  make: () => V,
) => Object.fromEntries(names.map((name) => [name, found[name] ?? make()])) as Record<K, V>;

/** Folders made before keys rotated hold JSON `[{"kid": 1, "key": "<hex>"}]`; its keys are secrets now. */
function readTokenSecrets(stored: string): string {
  if (!stored.startsWith('[')) return stored;
  return (JSON.parse(stored) as { readonly key: string }[]).map(({ key }) => key).join(',');
}

/**
 * Makes the secrets that are missing. Where services shared Redis, the object store and the beginning of their database passwords,
 * it replaces all of these, and keeps the keys of stored data and of addresses that were handed out.
 */
function completeSecrets<S extends string>(found: FoundStored, manifest: Manifest<S>): Stored<S> {
  const wasShared = typeof found.roles === 'string';
  const kept = wasShared ? { ...found, redis: undefined, s3AccessKey: undefined, s3SecretKey: undefined } : found;
  const roles = typeof found.roles === 'string' ? {} : (found.roles ?? {});
  const schemas = schemaOwners(manifest).map(([, schema]) => schema);
  const operatorKey = s3Key();
  return {
    postgres: kept.postgres ?? hex(24),
    ...(kept.postgresFormer !== undefined && { postgresFormer: kept.postgresFormer }),
    redis: kept.redis ?? hex(24),
    roles: complete(schemas, roles, () => hex(24)),
    services: complete(namesOf(manifest), kept.services ?? {}, serviceSecrets),
    s3AccessKey: kept.s3AccessKey ?? operatorKey.s3AccessKey,
    s3SecretKey: kept.s3SecretKey ?? operatorKey.s3SecretKey,
    ...(kept.formerS3 && { formerS3: kept.formerS3 }),
    listener: kept.listener ?? hex(32),
    cursor: kept.cursor ?? hex(32),
    deliveryToken: readTokenSecrets(kept.deliveryToken ?? hex(32)),
    webhook: kept.webhook ?? hex(32),
  };
}

/** The file with the secrets that are texts. */
const textsFile = (folder: string) => path.join(folder, 'secrets.json');

/** The secrets that are texts, as far as they are there. */
export const readTexts = (folder: string): Partial<Omit<Stored<string>, 'roles'>> => readStored(folder);

function readStored(folder: string): FoundStored {
  const file = textsFile(folder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FoundStored) : {};
}

/** Changes the secrets of an installation that are texts; they are there. */
export function changeTexts(folder: string, change: (stored: Stored<string>) => Partial<Stored<string>>): void {
  const stored = readStored(folder) as Stored<string>;
  writeJsonPrivately(textsFile(folder), { ...stored, ...change(stored) });
}

/** The secrets of the installation in `folder`, made on first use and for each service that is new; files readable by the owner only. */
export function openSecrets<S extends string>(folder: string, manifest: Manifest<S>): Secrets<S> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = readStored(folder);
  const stored = completeSecrets(found, manifest);
  if (JSON.stringify(stored) !== JSON.stringify(found)) writeJsonPrivately(textsFile(folder), stored);
  if (Object.keys(found).length === 0) noteFirstKeys(folder, new Date());
  for (const name of keyFileNames) ensureKey(folder, name);
  const [principals, accessTokens] = [keyPaths(folder, 'principals'), keyPaths(folder, 'access-tokens')];
  return {
    postgresPassword: stored.postgres,
    ...(stored.postgresFormer !== undefined && { postgresFormerPassword: stored.postgresFormer }),
    redisPassword: stored.redis,
    rolePassword: (schema) => {
      const password = stored.roles[schema];
      if (password === undefined) throw new Error(`no service owns a schema ${schema}`);
      return password;
    },
    services: stored.services,
    s3AccessKey: stored.s3AccessKey,
    s3SecretKey: stored.s3SecretKey,
    formerS3: stored.formerS3 ?? [],
    variables: {
      PRINCIPAL_PRIVATE_KEY: principals.own,
      PRINCIPAL_KEYS: principals.shared,
      RECEIPT_SIGNING_KEY: keyPaths(folder, 'receipts').own,
      ACCESS_TOKEN_SIGNING_KEYS: accessTokens.own,
      ACCESS_TOKEN_KEYS: accessTokens.shared,
      SECOND_FACTOR_KEYS: keyPaths(folder, 'second-factors').own,
      CURSOR_KEY: stored.cursor,
      LISTENER_SECRET: stored.listener,
      DELIVERY_TOKEN_SECRETS: stored.deliveryToken,
      WEBHOOK_SECRET_KEYS: stored.webhook,
    },
  };
}
