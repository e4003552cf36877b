import { addressRangesSetting } from '@longwave/audience';
import { addressSchema, busConfig, commonConfig, pagesConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const schema = z.object({
  ...commonConfig,
  ...busConfig,
  ...pagesConfig,
  GRPC_LISTEN: addressSchema,
  /** The Audience Analytics Sink API; public behind the ingress. */
  HTTP_LISTEN: addressSchema,
  /** Address ranges of proxies whose X-Forwarded-For is believed. */
  TRUSTED_PROXIES: addressRangesSetting,
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** File with the public keys (JWKS) that principal statements are verified with. */
  PRINCIPAL_KEYS: z.string().min(1),
  /** File with the public keys (JWKS) that access tokens are verified with; read again when it changes. */
  ACCESS_TOKEN_KEYS: z.string().min(1),
  /** auth-server's gRPC, which knows whether clients are active. */
  AUTH_SERVER_ADDRESS: addressSchema,
  /** Public root of auth-server, without a slash at the end: the issuer of access tokens. */
  BASE_URL: z.url(),
  /** Public root of the ad server APIs, without a slash at the end. */
  API_URL: z.url(),
  /**
   * How many days the text of a user agent is kept after its last use. A recount needs the texts of its facts, so a recount of older facts
   * needs a larger number.
   */
  USER_AGENT_DAYS: z.coerce.number().int().min(90).default(90),
  /**
   * How many months facts are kept. The numbers counted from removed facts stay, but cannot be counted again.
   */
  FACT_MONTHS: z.coerce.number().int().min(13).max(1_200).default(13),
  /** How often expired rows are removed. */
  SWEEP_EVERY_MS: z.coerce.number().int().min(1).max(86_400_000).default(3_600_000),
  /** Folder with the user-agent and network lists. */
  AUDIENCE_DATA: z.string().min(1).default('libs/audience/data'),
});

export type Config = Readonly<z.output<typeof schema>>;

/** Throws `ConfigError` naming every wrong variable. */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Config {
  return readConfig(schema, environment);
}
