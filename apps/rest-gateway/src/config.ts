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
  HTTP_LISTEN: addressSchema.describe('The port of `BASE_URL`.'),
  REDIS_URL: busConfig.REDIS_URL.describe(
    'Redis, with the login of this service: rate limits, upload addresses, progress.',
  ),
  MANAGEMENT_ADDRESS: service('management'),
  AUTH_SERVER_ADDRESS: service('auth-server'),
  ANALYTICS_SINK_ADDRESS: service('analytics-sink'),
  PUBLIC_DELIVERY_ADDRESS: service('public-delivery'),
  TRUSTED_PROXIES: addressRangesSetting.describe(
    'Proxies whose `X-Forwarded-For` is believed; the delay of wrong keys is by the address of the client.',
  ),
  PROXY_PROTOCOL: proxyProtocolSetting,
  BASE_URL: root.describe('Public root of this application, in links.'),
  CONSOLE_FOLDER: z
    .string()
    .min(1)
    .optional()
    .meta({ kind: 'folder' })
    .describe('The build of the web application; while it has no `index.html`, `BASE_URL` shows a page of links.'),
  S3_PUBLIC_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('The object store, as browsers reach it; pages of the web application may send uploads there.'),
  MEDIA_URL: root.describe('Public root of Public Delivery; addresses of feeds and files start with it.'),
});

export type RestGatewayConfig = Readonly<z.output<typeof configuration>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): RestGatewayConfig =>
  readConfig(configuration, environment);
