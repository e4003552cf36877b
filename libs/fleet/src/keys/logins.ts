import { namesOf, secretsInFiles, serviceRoleOf, type Manifest, type ServiceEntry } from '@longwave/services';
import type { S3Key } from '@longwave/s3-server';
import type { Secrets } from '../secrets.ts';

/** The addresses of the engines of an installation. */
export interface EngineAddresses {
  /** A URL of the database; its login is replaced. */
  readonly database: string;
  /** A URL of Redis; its login is replaced. */
  readonly redis: string;
}

/** An address with another login. */
export const withLogin = (address: string, username: string, password: string): string =>
  Object.assign(new URL(address), { username, password }).href;

/** The secrets of one service by variable: those that it reads from its `SECRETS_FILE`. */
export function serviceLogins<S extends string>(
  service: S,
  manifest: Manifest<S>,
  secrets: Secrets<S>,
  engines: EngineAddresses,
): Readonly<Record<string, string>> {
  const { schema, redis, objects, secrets: variables }: ServiceEntry<S> = manifest[service];
  const { redisPassword, s3AccessKey, s3SecretKey } = secrets.services[service];
  const texts = variables.filter((name) => !secretsInFiles.includes(name));
  return {
    ...(schema !== undefined && {
      DATABASE_URL: withLogin(engines.database, serviceRoleOf(schema), secrets.rolePassword(schema)),
    }),
    ...(redis && { REDIS_URL: withLogin(engines.redis, service, redisPassword) }),
    ...(objects && { S3_ACCESS_KEY: s3AccessKey, S3_SECRET_KEY: s3SecretKey }),
    ...Object.fromEntries(texts.map((name) => [name, secrets.variables[name]])),
  };
}

/** Every key that the object store accepts: the operator's, the services' with their rights, and those that were replaced. */
export function objectStoreKeys<S extends string>(manifest: Manifest<S>, secrets: Secrets<S>): readonly S3Key[] {
  const present = { operator: secrets, services: secrets.services };
  return [present, ...secrets.formerS3].flatMap(({ operator, services }) => [
    { accessKey: operator.s3AccessKey, secretKey: operator.s3SecretKey },
    ...namesOf(manifest).flatMap((service) => {
      const { objects: permissions } = manifest[service];
      const login = services[service];
      return permissions && login ? [{ accessKey: login.s3AccessKey, secretKey: login.s3SecretKey, permissions }] : [];
    }),
  ]);
}
