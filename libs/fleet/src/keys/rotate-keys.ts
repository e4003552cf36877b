import { setTimeout as sleep } from 'node:timers/promises';
import { namesOf, schemaOwners, serviceRoleOf, type ServiceName } from '@longwave/services';
import { ownApps } from '../apps.ts';
import type { DataFolder } from '../data-folder.ts';
import { addAuthority, developmentCa, dropFormerAuthorities } from '../development-ca.ts';
import { changeAccess, type FleetAccess } from '../fleet-state.ts';
import { changeTexts, hex, openSecrets, s3Key, type Secrets } from '../secrets.ts';
import { addKey, dropKeys, withoutOldest } from './key-files.ts';
import { isFileKey, isTextKey, keyKinds, textKeys, type KeyName } from './key-kinds.ts';
import { redisLogins, setRedisPasswords } from './redis-passwords.ts';
import { usedFrom } from './rotation-plan.ts';
import { setPassword } from './set-password.ts';
import { accessLogins, operatorKey, writeLogins, writeObjectStoreKeys } from './write-logins.ts';

/** An installation whose keys are rotated. */
export interface Installation {
  readonly data: DataFolder;
  /** How it is reached while it runs. */
  readonly access: FleetAccess | undefined;
}

/** Services and the object store notice a changed file within this time; see `followFile` and `openKeyFile`. */
const noticedMs = 1_500;

const { services } = ownApps;
const secretsOf = ({ data }: Installation) => openSecrets<ServiceName>(data.secrets, services);
const changeSecrets = ({ data }: Installation, change: Parameters<typeof changeTexts>[1]) =>
  changeTexts(data.secrets, change);
const pauseOf = ({ access }: Installation) => (access ? noticedMs : 0);

/** Gives the secrets of now to the services that run, and to programs of the operator. */
function publish(installation: Installation): void {
  const { data, access } = installation;
  if (!access) return;
  const secrets = secretsOf(installation);
  const engines = { database: access.adminDatabaseUrl, redis: access.redisUrl };
  writeLogins(data, services, secrets, engines);
  const isOwn = (name: KeyName) => !access.foreignKeys.includes(name);
  const { databaseUrls, adminDatabaseUrl, redisUrl } = accessLogins(services, secrets, engines);
  changeAccess(data, (state) => ({
    ...state,
    ...(isOwn('database') && { databaseUrls, adminDatabaseUrl }),
    ...(isOwn('redis') && { redisUrl }),
    ...(isOwn('object-store') && { objectStore: { ...state.objectStore, ...operatorKey(secrets) } }),
  }));
}

const mapSecrets = <V>(
  secrets: Secrets<ServiceName>,
  change: (of: Secrets<ServiceName>['services'][ServiceName]) => V,
) => Object.fromEntries(namesOf(services).map((name) => [name, change(secrets.services[name])]));

/**
 * New passwords of every role. PostgreSQL has one for each, so the change is one step: sessions go on, and a service whose login is
 * refused in that moment tries again with the new one.
 */
async function rotateDatabase(installation: Installation): Promise<void> {
  const { access } = installation;
  const owners = schemaOwners(services).map(([, schema]) => schema);
  // A stopped database is given the services' passwords at its next start; nobody can give it the superuser's.
  const former = access && secretsOf(installation).postgresPassword;
  changeSecrets(installation, () => ({
    roles: Object.fromEntries(owners.map((schema) => [schema, hex(24)])),
    ...(former !== undefined && { postgres: hex(24), postgresFormer: former }),
  }));
  if (!access) return;
  const secrets = secretsOf(installation);
  await setPassword(access.adminDatabaseUrl, 'postgres', secrets.postgresPassword);
  changeSecrets(installation, () => ({ postgresFormer: undefined }));
  const { adminDatabaseUrl } = accessLogins(services, secrets, {
    database: access.adminDatabaseUrl,
    redis: access.redisUrl,
  });
  for (const schema of owners) await setPassword(adminDatabaseUrl, serviceRoleOf(schema), secrets.rolePassword(schema));
  publish(installation);
}

/** Both passwords of each user count until every service has the new one; then it alone, whatever an interrupted rotation left. */
async function rotateRedis(installation: Installation): Promise<void> {
  const { access } = installation;
  const former = secretsOf(installation);
  const made = { redis: hex(24), services: mapSecrets(former, (of) => ({ ...of, redisPassword: hex(24) })) };
  const logins = redisLogins(made.redis, made.services);
  if (access) await setRedisPasswords(access.redisUrl, logins, 'beside');
  changeSecrets(installation, () => made);
  if (!access) return;
  publish(installation);
  await sleep(noticedMs);
  await setRedisPasswords(access.redisUrl, logins, 'alone');
}

/** Both keys count: addresses that were signed with the ones before are still used. */
async function rotateObjectStore(installation: Installation): Promise<void> {
  const former = secretsOf(installation);
  const pick = ({ s3AccessKey, s3SecretKey }: { readonly s3AccessKey: string; readonly s3SecretKey: string }) => ({
    s3AccessKey,
    s3SecretKey,
  });
  const replaced = {
    operator: pick(former),
    services: mapSecrets(former, pick) as Record<ServiceName, ReturnType<typeof pick>>,
  };
  const made = { ...s3Key(), services: mapSecrets(former, (of) => ({ ...of, ...s3Key() })) };
  changeSecrets(installation, () => ({ ...made, formerS3: [replaced, ...former.formerS3] }));
  writeObjectStoreKeys(installation.data, services, secretsOf(installation));
  await sleep(pauseOf(installation));
  publish(installation);
}

/** A text key: every process accepts the new one before the first of them uses it. */
async function rotateText(installation: Installation, member: 'cursor' | 'deliveryToken' | 'webhook'): Promise<void> {
  const made = hex(32);
  if (installation.access) {
    changeSecrets(installation, (stored) => ({ [member]: `${stored[member]},${made}` }));
    publish(installation);
    await sleep(noticedMs);
  }
  changeSecrets(installation, (stored) => {
    const former = stored[member].split(',').filter((key) => key !== made);
    return { [member]: [made, ...former].join(',') };
  });
  publish(installation);
}

/** The new master has a month in which it begins, so nobody uses it before every process knows it. */
function rotateListeners(installation: Installation, now: Date): void {
  const month = usedFrom(keyKinds.listeners, now).toISOString().slice(0, 7);
  changeSecrets(installation, ({ listener }) => ({ listener: `${hex(32)}@${month},${listener}` }));
  publish(installation);
}

/**
 * Makes a new key the one that is used. What was made with those before goes on to count, as `keyKinds` says. Throws for the key of an
 * engine that others run.
 */
export async function rotateKey(name: KeyName, installation: Installation, now: Date): Promise<void> {
  const { data, access } = installation;
  if (access?.foreignKeys.includes(name))
    throw new Error(`${name}: others run this engine. Replace the key there, then in the variables of the services.`);
  if (isFileKey(name)) return void (await addKey(data.secrets, name, pauseOf(installation)));
  if (isTextKey(name)) return rotateText(installation, textKeys[name]);
  switch (name) {
    case 'listeners':
      return rotateListeners(installation, now);
    case 'database':
      return rotateDatabase(installation);
    case 'redis':
      return rotateRedis(installation);
    case 'object-store':
      return rotateObjectStore(installation);
    case 'certificates':
      return void (await developmentCa(data.tls, [...namesOf(services), 'operator'], now, { renewAll: true }));
    case 'ca':
      return addAuthority(data.tls, now);
  }
}

/** Ends the oldest keys that were replaced. */
export async function dropFormerKeys(name: KeyName, count: number, installation: Installation): Promise<void> {
  const { data } = installation;
  if (isFileKey(name)) return dropKeys(data.secrets, name, count, pauseOf(installation));
  if (isTextKey(name) || name === 'listeners') {
    const member = name === 'listeners' ? 'listener' : textKeys[name];
    changeSecrets(installation, (stored) => ({ [member]: withoutOldest(stored[member].split(','), count).join(',') }));
    return publish(installation);
  }
  if (name === 'ca') return dropFormerAuthorities(data.tls);
  if (name !== 'object-store') return;
  changeSecrets(installation, ({ formerS3 = [] }) => ({ formerS3: formerS3.slice(0, -count) }));
  writeObjectStoreKeys(data, services, secretsOf(installation));
  await sleep(pauseOf(installation));
}
