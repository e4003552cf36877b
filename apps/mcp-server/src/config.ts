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

const root = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
const service = (name: string) => serviceAddressSchema.describe(`${name}, whose RPCs it calls.`);

/** @public docs/configuration.md is made of it. */
export const configuration = z.object({
  ...commonConfig,
  ...pagesConfig,
  HTTP_LISTEN: addressSchema.describe('The port of `MCP_URL`.'),
  REDIS_URL: busConfig.REDIS_URL.describe(
    'Redis, with the login of this service: rate limits, upload addresses, progress, confirmations.',
  ),
  MANAGEMENT_ADDRESS: service('management'),
  AUTH_SERVER_ADDRESS: service('auth-server'),
  ANALYTICS_SINK_ADDRESS: service('analytics-sink'),
  PUBLIC_DELIVERY_ADDRESS: service('public-delivery'),
  TRUSTED_PROXIES: addressRangesSetting.describe(
    'Proxies whose `X-Forwarded-For` is believed; requests are limited by the address of the client.',
  ),
  PROXY_PROTOCOL: proxyProtocolSetting,
  BASE_URL: root.describe('Public root of the authorization server: the issuer of tokens.'),
  MCP_URL: root.describe('Public root of this service; `/mcp` below it is the resource that tokens are issued for.'),
  MEDIA_URL: root.describe(
    'Public root of Public Delivery; addresses of feeds and files start with it, and transcripts are read from there.',
  ),
});

export type McpServerConfig = Readonly<z.output<typeof configuration>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): McpServerConfig =>
  readConfig(configuration, environment);
