import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  bucketPolicy,
  developmentCa,
  objectStoreKeys,
  openSecrets,
  redisMemoryBytes,
  redisUserLines,
  renderRedisConfiguration,
  serviceLogins,
} from '@longwave/fleet';
import {
  migrationRoleOf,
  namesOf,
  schemaOwners,
  secretsInFiles,
  serviceRoleOf,
  services,
  type ServiceName,
} from '@longwave/services';
import { bucket, database, engines } from './compose-services.ts';

type Secrets = ReturnType<typeof openSecrets<ServiceName>>;
type Passwords = Readonly<Record<string, string>>;
type Files = Readonly<Record<string, string>>;

/** Containers read as this user, whom the machine need not know. */
const containerUser = 10_001;

/** Passwords of the roles that migrate, by schema; made once. */
function migrationPasswords(file: string): Passwords {
  const found = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Passwords) : {};
  const schemas = schemaOwners(services).map(([, schema]) => schema);
  const passwords = Object.fromEntries(
    schemas.map((schema) => [schema, found[schema] ?? randomBytes(24).toString('hex')]),
  );
  writeFileSync(file, asJson(passwords), { mode: 0o600 });
  return passwords;
}

const asJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const asVariables = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const databaseUrl = (role: string, password: string) =>
  `postgresql://${role}:${password}@${engines.postgres}/${database}`;

/** The logins of the services, and those of their migrations, as files of variables. */
function loginFiles(secrets: Secrets, migrations: Passwords): Files {
  const addresses = { database: `postgresql://${engines.postgres}/${database}`, redis: `redis://${engines.redis}` };
  return Object.fromEntries([
    ...namesOf(services).map((name) => [`${name}.env`, asVariables(serviceLogins(name, services, secrets, addresses))]),
    ...schemaOwners(services).map(([name, schema]) => [
      `${name}-migration.env`,
      asVariables({ DATABASE_URL: databaseUrl(migrationRoleOf(schema), migrations[schema]!) }),
    ]),
  ]) as Files;
}

/** The files that make those logins known to the engines, and the order for `tools/provision.mjs`. */
function engineFiles(secrets: Secrets, migrations: Passwords): Files {
  const keys = objectStoreKeys(services, secrets).flatMap(({ accessKey, secretKey, permissions: rights }) =>
    rights ? [{ accessKey, secretKey, rights }] : [],
  );
  const owners = schemaOwners(services).map(([, schema]) => ({
    ...{ schema, role: serviceRoleOf(schema), password: secrets.rolePassword(schema) },
    migrator: { role: migrationRoleOf(schema), password: migrations[schema] },
  }));
  const { s3AccessKey: accessKey, s3SecretKey: secretKey } = secrets;
  // The health check of Redis logs in as this user, who may ask whether Redis is there and nothing else.
  const health = 'user health on nopass resetkeys resetchannels -@all +ping';
  return {
    'postgres-password': secrets.postgresPassword,
    'redis.conf': renderRedisConfiguration({
      ...{ folder: '/data', port: 6379, bind: '*', password: secrets.redisPassword, databases: 1, mode: 'durable' },
      ...{ maxMemoryBytes: redisMemoryBytes(os.totalmem()) },
      users: [...redisUserLines(services, secrets.services), health],
    }),
    'objects.env': asVariables({ ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey }),
    'objects-users.json': asJson({
      accessAccounts: Object.fromEntries(
        keys.map((key) => [key.accessKey, { access: key.accessKey, secret: key.secretKey, role: 'user' }]),
      ),
    }),
    'provision.json': asJson({
      database: { adminUrl: databaseUrl('postgres', secrets.postgresPassword), owners },
      objectStore: {
        access: { endpoint: `http://${engines.objects}`, region: 'us-east-1', bucket, accessKey, secretKey },
        policy: bucketPolicy(bucket, keys),
      },
    }),
  };
}

/** Made once and changed by hand afterwards. */
const mailFile = `# The mail server, and the sender of mails. Without one, mails become files in the volume "mail".
# MAIL_URL=smtps://user:password@mail.example
# MAIL_FROM=Pod Example <no-reply@pod.example>
`;

/**
 * Writes the secrets, logins and certificates of the containers of deploy/server/compose.yaml, one file for each thing that a container
 * mounts, beside the folder `kept` with what they are made of. What is there stays; certificates that soon end are made anew. As root, the
 * files belong to the user of the containers.
 * @returns the names of the files, and whether containers can read them
 */
export async function writeServerSecrets(
  folder: string,
  now: Date,
): Promise<{ readonly names: readonly string[]; readonly isReadable: boolean }> {
  const kept = path.join(folder, 'kept');
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const secrets = openSecrets(kept, services);
  const migrations = migrationPasswords(path.join(kept, 'migrations.json'));
  const identities = await developmentCa(path.join(kept, 'certificates'), namesOf(services), now);
  const mail = path.join(folder, 'mail.env');
  const copies: readonly (readonly [name: string, file: string])[] = [
    ...secretsInFiles.map((variable) => [variable, secrets.variables[variable]] as const),
    ['ca.pem', identities.management.ca],
    ...Object.entries(identities).flatMap(([name, { cert, key }]) => [
      [`${name}.pem`, cert] as const,
      [`${name}.key`, key] as const,
    ]),
  ];
  const files: Files = {
    ...loginFiles(secrets, migrations),
    ...engineFiles(secrets, migrations),
    ...Object.fromEntries(copies.map(([name, file]) => [name, readFileSync(file, 'utf8')])),
    'mail.env': existsSync(mail) ? readFileSync(mail, 'utf8') : mailFile,
  };
  const isRoot = process.getuid?.() === 0;
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    if (existsSync(file)) chmodSync(file, 0o600);
    // In place: a container that has the file mounted goes on seeing it.
    writeFileSync(file, text, { mode: 0o600 });
    chmodSync(file, 0o400);
    if (isRoot) chownSync(file, containerUser, containerUser);
  }
  return { names: readdirSync(folder).filter((name) => name !== 'kept'), isReadable: isRoot };
}
