import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { namesOf, schemaOwners, type Manifest, type SecretVariable } from '@longwave/services';

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
  readonly variables: Readonly<Record<SecretVariable, string>>;
}

/** One service's own, each part random. */
export interface ServiceSecrets {
  readonly redisPassword: string;
  readonly s3AccessKey: string;
  readonly s3SecretKey: string;
}

interface Stored<S extends string> {
  readonly postgres: string;
  readonly redis: string;
  readonly roles: Readonly<Record<string, string>>;
  readonly services: Readonly<Record<S, ServiceSecrets>>;
  readonly s3AccessKey: string;
  readonly s3SecretKey: string;
  readonly listener: string;
  readonly cursor: string;
  readonly deliveryToken: string;
  readonly webhook: string;
}

/** In folders made before every part had secrets of its own, `roles` is the text that all roles' passwords began with. */
type FoundStored = Omit<Partial<Stored<string>>, 'roles'> & {
  readonly roles?: Readonly<Record<string, string>> | string;
};

function writePrivately(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex');

const s3Key = () => ({ s3AccessKey: `LW${hex(9).toUpperCase()}`, s3SecretKey: hex(20) });
const serviceSecrets = (): ServiceSecrets => ({ redisPassword: hex(24), ...s3Key() });

/** An entry for each name: the present one, else a new one. */
const complete = <K extends string, V>(
  names: readonly K[],
  found: Readonly<Partial<Record<string, V>>>,
  make: () => V,
) => Object.fromEntries(names.map((name) => [name, found[name] ?? make()])) as Record<K, V>;

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
    redis: kept.redis ?? hex(24),
    roles: complete(schemas, roles, () => hex(24)),
    services: complete(namesOf(manifest), kept.services ?? {}, serviceSecrets),
    s3AccessKey: kept.s3AccessKey ?? operatorKey.s3AccessKey,
    s3SecretKey: kept.s3SecretKey ?? operatorKey.s3SecretKey,
    listener: kept.listener ?? hex(32),
    cursor: kept.cursor ?? hex(32),
    deliveryToken: kept.deliveryToken ?? hex(32),
    webhook: kept.webhook ?? hex(32),
  };
}

/** Folders made before keys rotated hold JSON `[{"kid": 1, "key": "<hex>"}]`; its keys are secrets now. */
function readTokenSecrets(stored: string): string {
  if (!stored.startsWith('[')) return stored;
  return (JSON.parse(stored) as { readonly key: string }[]).map(({ key }) => key).join(',');
}

/** An Ed25519 key pair as JWK (RFC 8037); the public half only when `publicFile` is given. */
function ensureSigningKey(privateFile: string, kid: string, publicFile?: string): void {
  if (existsSync(privateFile) && (!publicFile || existsSync(publicFile))) return;
  const keys = generateKeyPairSync('ed25519');
  const named = { kid, use: 'sig', alg: 'EdDSA' };
  if (publicFile) writePrivately(publicFile, { keys: [{ ...keys.publicKey.export({ format: 'jwk' }), ...named }] });
  writePrivately(privateFile, { ...keys.privateKey.export({ format: 'jwk' }), ...named });
}

/** A key file (JWKS) with one octet key of 256 bits (RFC 7518, section 6.4). */
function ensureOctetKey(file: string, kid: string): void {
  if (existsSync(file)) return;
  writePrivately(file, { keys: [{ kty: 'oct', kid, alg: 'A256GCM', k: randomBytes(32).toString('base64url') }] });
}

const accessTokenFiles = (folder: string) => ({
  signingKeys: path.join(folder, 'access-token-signing.jwks.json'),
  publicKeys: path.join(folder, 'access-token-keys.jwks.json'),
});

const keysOf = (file: string) =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { readonly keys: readonly object[] }).keys : [];

/**
 * Puts a new signing key (ES256) in front of those that an installation has; the older public keys stay, so their tokens do too. The
 * public half is written first: no token is signed by a key that nobody can look up. Answers its `kid`.
 */
export function addAccessTokenKey(folder: string): string {
  const files = accessTokenFiles(folder);
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const named = { kid: `access-${randomBytes(6).toString('hex')}`, use: 'sig', alg: 'ES256' };
  const publicKey = { ...keys.publicKey.export({ format: 'jwk' }), ...named };
  const privateKey = { ...keys.privateKey.export({ format: 'jwk' }), ...named };
  writePrivately(files.publicKeys, { keys: [publicKey, ...keysOf(files.publicKeys)] });
  writePrivately(files.signingKeys, { keys: [privateKey, ...keysOf(files.signingKeys)] });
  return named.kid;
}

/** The secrets of the installation in `folder`, made on first use and for each service that is new; files readable by the owner only. */
export function openSecrets<S extends string>(folder: string, manifest: Manifest<S>): Secrets<S> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'secrets.json');
  const found = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FoundStored) : {};
  const stored = completeSecrets(found, manifest);
  if (JSON.stringify(stored) !== JSON.stringify(found)) writePrivately(file, stored);
  const principalPrivateKeyFile = path.join(folder, 'principal-private.jwk.json');
  const principalKeysFile = path.join(folder, 'principal-keys.jwks.json');
  const receiptSigningKeyFile = path.join(folder, 'receipt-signing.jwk.json');
  ensureSigningKey(principalPrivateKeyFile, 'principal-1', principalKeysFile);
  ensureSigningKey(receiptSigningKeyFile, 'receipt-1');
  const secondFactorKeysFile = path.join(folder, 'second-factor-keys.jwks.json');
  ensureOctetKey(secondFactorKeysFile, 'second-factor-1');
  const accessToken = accessTokenFiles(folder);
  if (keysOf(accessToken.signingKeys).length === 0) addAccessTokenKey(folder);
  return {
    postgresPassword: stored.postgres,
    redisPassword: stored.redis,
    rolePassword: (schema) => {
      const password = stored.roles[schema];
      if (password === undefined) throw new Error(`no service owns a schema ${schema}`);
      return password;
    },
    services: stored.services,
    s3AccessKey: stored.s3AccessKey,
    s3SecretKey: stored.s3SecretKey,
    variables: {
      PRINCIPAL_PRIVATE_KEY: principalPrivateKeyFile,
      PRINCIPAL_KEYS: principalKeysFile,
      RECEIPT_SIGNING_KEY: receiptSigningKeyFile,
      ACCESS_TOKEN_SIGNING_KEYS: accessToken.signingKeys,
      ACCESS_TOKEN_KEYS: accessToken.publicKeys,
      SECOND_FACTOR_KEYS: secondFactorKeysFile,
      CURSOR_KEY: stored.cursor,
      LISTENER_SECRET: stored.listener,
      DELIVERY_TOKEN_SECRETS: readTokenSecrets(stored.deliveryToken),
      WEBHOOK_SECRET_KEYS: stored.webhook,
    },
  };
}
