import { addressRangesSetting } from '@longwave/audience';
import { addressSchema, commonConfig, pagesConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const root = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

const schema = z.object({
  ...commonConfig,
  ...pagesConfig,
  /** The port of MCP_URL. */
  HTTP_LISTEN: addressSchema,
  REDIS_URL: z.url({ protocol: /^rediss?$/ }),
  MANAGEMENT_ADDRESS: addressSchema,
  AUTH_SERVER_ADDRESS: addressSchema,
  ANALYTICS_SINK_ADDRESS: addressSchema,
  PUBLIC_DELIVERY_ADDRESS: addressSchema,
  /** Proxies whose X-Forwarded-For is believed; requests are limited by the address of the client. */
  TRUSTED_PROXIES: addressRangesSetting,
  /** Public root of the authorization server: the issuer of tokens. */
  BASE_URL: root,
  /** Public root of this service; `/mcp` below it is the resource that tokens are issued for. */
  MCP_URL: root,
  /** Public root of Public Delivery; feed and file addresses start with it. */
  MEDIA_URL: root,
});

export type McpServerConfig = Readonly<z.output<typeof schema>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): McpServerConfig =>
  readConfig(schema, environment);
