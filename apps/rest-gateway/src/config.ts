import { addressRangesSetting } from '@longwave/audience';
import { addressSchema, commonConfig, pagesConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const root = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

const schema = z.object({
  ...commonConfig,
  ...pagesConfig,
  /** The port of BASE_URL. */
  HTTP_LISTEN: addressSchema,
  REDIS_URL: z.url({ protocol: /^rediss?$/ }),
  MANAGEMENT_ADDRESS: addressSchema,
  AUTH_SERVER_ADDRESS: addressSchema,
  ANALYTICS_SINK_ADDRESS: addressSchema,
  PUBLIC_DELIVERY_ADDRESS: addressSchema,
  /** Proxies whose X-Forwarded-For is believed; the delay of wrong keys is by the address of the client. */
  TRUSTED_PROXIES: addressRangesSetting,
  /** Public root of this application, in links. */
  BASE_URL: root,
  /** Public root of Public Delivery; feed and file addresses start with it. */
  MEDIA_URL: root,
});

export type RestGatewayConfig = Readonly<z.output<typeof schema>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): RestGatewayConfig =>
  readConfig(schema, environment);
