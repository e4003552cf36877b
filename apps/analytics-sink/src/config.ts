import { addressRangesSetting } from '@longwave/audience';
import {
  addressSchema,
  busConfig,
  commonConfig,
  pagesConfig,
  proxyProtocolSetting,
  readConfig,
  serviceAddressSchema,
} from '@longwave/service-kit';
import { z } from 'zod';

/** @public docs/configuration.md is made of it. */
export const configuration = z.object({
  ...commonConfig,
  ...busConfig,
  ...pagesConfig,
  GRPC_LISTEN: addressSchema.describe('Port of RPCs from other services, by mutual TLS; at a private address.'),
  HTTP_LISTEN: addressSchema.describe('Port of the Audience Analytics Sink API, public behind a proxy at `API_URL`.'),
  TRUSTED_PROXIES: addressRangesSetting.describe('Proxies whose `X-Forwarded-For` is believed.'),
  PROXY_PROTOCOL: proxyProtocolSetting,
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .meta({ secret: true })
    .describe('PostgreSQL with schema `audience`, as the role of this service.'),
  DATABASE_REPLICA_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .meta({ secret: true })
    .optional()
    .describe(
      'A read replica of that database, with the same role: numbers and reports are read there, everything else at `DATABASE_URL`. Unset: everything there.',
    ),
  PRINCIPAL_KEYS: z
    .string()
    .min(1)
    .meta({ kind: 'file' })
    .describe('Public keys (JWKS) that statements about principals are verified with.'),
  ACCESS_TOKEN_KEYS: z
    .string()
    .min(1)
    .meta({ kind: 'file' })
    .describe('Public keys (JWKS) that access tokens are verified with; read again when the file changes.'),
  AUTH_SERVER_ADDRESS: serviceAddressSchema.describe('auth-server, which knows whether clients are active.'),
  BASE_URL: z.url().describe('Public root of auth-server, without a slash at the end: the issuer of access tokens.'),
  API_URL: z.url().describe('Public root of the ad server APIs, without a slash at the end.'),
  USER_AGENT_DAYS: z.coerce
    .number()
    .int()
    .min(90)
    .default(90)
    .describe(
      'Days that the text of a user agent is kept after its last use. A recount needs the texts of its facts, so a recount of older facts needs a larger number.',
    ),
  FACT_MONTHS: z.coerce
    .number()
    .int()
    .min(13)
    .max(1_200)
    .default(13)
    .describe('Months that facts are kept. The numbers counted from removed facts stay, but cannot be counted again.'),
  SWEEP_EVERY_MS: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400_000)
    .default(3_600_000)
    .describe('Milliseconds between two removals of expired rows.'),
  AUDIENCE_DATA: z
    .string()
    .min(1)
    .default('libs/audience/data')
    .meta({ kind: 'folder' })
    .describe('The lists of user agents and networks.'),
});

export type Config = Readonly<z.output<typeof configuration>>;

/** Throws `ConfigError` naming every wrong variable. */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Config {
  return readConfig(configuration, environment);
}
