import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { busConfig, kafkaFaults, objectStoreConfig, readSecretsFile } from '@longwave/service-kit';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { z } from 'zod';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of a service that name servers. None is required: a service has those that it needs. */
const schema = z.object({
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'expected postgresql://user:password@host/database' })
    .optional(),
  ...busConfig,
  REDIS_URL: busConfig.REDIS_URL.optional(),
  S3_ENDPOINT: z
    .string()
    .regex(/^https?:\/\/[^/?#@]+\/?$/, 'expected http(s)://host[:port]')
    .optional(),
  S3_REGION: objectStoreConfig.S3_REGION,
  S3_BUCKET: objectStoreConfig.S3_BUCKET,
  S3_ACCESS_KEY: objectStoreConfig.S3_ACCESS_KEY.optional(),
  S3_SECRET_KEY: objectStoreConfig.S3_SECRET_KEY.optional(),
});

interface DeploymentEnvironment {
  readonly values: Readonly<Partial<z.output<typeof schema>>>;
  /** Variables that are wrong, and why; `values` is empty then. */
  readonly faults: readonly (readonly [variable: string, fault: string])[];
}

const objectStoreVariables = ['S3_ENDPOINT', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'] as const;

/** Reads the servers of a deployment from variables; an empty one counts as absent. */
export function readDeployment(environment: Environment): DeploymentEnvironment {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  const { data, error } = schema.safeParse(set);
  const wrong = (error?.issues ?? []).map(({ path: [name], message }) => [String(name), message] as const);
  const some = objectStoreVariables.some((name) => set[name]);
  const missing = objectStoreVariables.filter((name) => some && !set[name]);
  const faults = [
    ...wrong,
    ...missing.map((name) => [name, 'missing: the three come together'] as const),
    ...kafkaFaults(set),
  ];
  return { values: data && faults.length === 0 ? data : {}, faults };
}

/** The service whose login an address of Redis has; undefined for another login. */
export function serviceOf(redisUrl: string | undefined): ServiceName | undefined {
  const user = redisUrl && URL.parse(redisUrl)?.username;
  return namesOf(services).find((name) => name === user);
}

/**
 * The variables of a file `NAME=value` (dotenv), and what the file of its SECRETS_FILE adds. Throws a sentence when one cannot be read.
 * @param file relative to the caller's folder
 */
export function readEnvironmentFile(file: string): Environment {
  const found = path.resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
  let variables: Environment;
  try {
    variables = parseEnv(readFileSync(found, 'utf8'));
  } catch (error) {
    throw new Error(`${found} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const secrets = variables['SECRETS_FILE'];
  if (!secrets) return variables;
  try {
    return { ...readSecretsFile(path.resolve(path.dirname(found), secrets)), ...variables };
  } catch (error) {
    // The error of a parser would show what it could not parse.
    throw new Error(`SECRETS_FILE of ${found}: ${secrets} is not a JSON object of texts`, { cause: error });
  }
}
