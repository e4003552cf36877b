import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { namesOf, schemaOwners, serviceRoleOf, type Manifest } from '@longwave/services';
import type { DataFolder } from '../data-folder.ts';
import type { Secrets } from '../secrets.ts';
import { writeJsonPrivately } from '../write-privately.ts';
import { objectStoreKeys, serviceLogins, withLogin, type EngineAddresses } from './logins.ts';

/** Writes the file of secrets of each service. Services that run take the change within a moment. */
export function writeLogins<S extends string>(
  data: DataFolder,
  manifest: Manifest<S>,
  secrets: Secrets<S>,
  engines: EngineAddresses,
): void {
  for (const service of namesOf(manifest)) {
    const file = data.loginsFile(service);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeJsonPrivately(file, serviceLogins(service, manifest, secrets, engines));
  }
}

/** Writes the keys that the object store accepts, which takes the change within a moment. */
export function writeObjectStoreKeys<S extends string>(
  data: DataFolder,
  manifest: Manifest<S>,
  secrets: Secrets<S>,
): void {
  mkdirSync(path.dirname(data.objectStoreKeys), { recursive: true, mode: 0o700 });
  writeJsonPrivately(data.objectStoreKeys, objectStoreKeys(manifest, secrets));
}

/** The operator's key of the object store. */
export const operatorKey = ({ s3AccessKey: accessKey, s3SecretKey: secretKey }: Secrets) => ({ accessKey, secretKey });

const superuser = 'postgres';

/** The addresses of the engines with their logins, as programs of the operator use them. */
export const accessLogins = <S extends string>(
  manifest: Manifest<S>,
  secrets: Secrets<S>,
  engines: EngineAddresses,
) => ({
  databaseUrls: Object.fromEntries(
    schemaOwners(manifest).map(([, schema]) => [
      schema,
      withLogin(engines.database, serviceRoleOf(schema), secrets.rolePassword(schema)),
    ]),
  ),
  adminDatabaseUrl: withLogin(engines.database, superuser, secrets.postgresPassword),
  redisUrl: withLogin(engines.redis, '', secrets.redisPassword),
});
