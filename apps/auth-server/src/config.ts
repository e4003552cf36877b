import { fileURLToPath } from 'node:url';
import { addressRangesSetting } from '@longwave/audience';
import { isCookieOrigin } from '@longwave/principal';
import {
  addressSchema,
  busConfig,
  commonConfig,
  fetchConfig,
  proxyProtocolSetting,
  readConfig,
  serviceAddressSchema,
} from '@longwave/service-kit';
import { z } from 'zod';

const file = z.string().min(1).meta({ kind: 'file' });

/** @public docs/configuration.md is made of it. */
export const configuration = z
  .object({
    ...commonConfig,
    ...busConfig,
    // Metadata documents of connectors.
    ...fetchConfig,
    GRPC_LISTEN: addressSchema.describe('Port of RPCs from other services, by mutual TLS; at a private address.'),
    HTTP_LISTEN: addressSchema.describe('Port of pages for people and of OAuth, public behind a proxy at `BASE_URL`.'),
    TRUSTED_PROXIES: addressRangesSetting.describe(
      'Proxies whose `X-Forwarded-For` is believed; attempts to sign in are limited by the address of the client.',
    ),
    PROXY_PROTOCOL: proxyProtocolSetting,
    DATABASE_URL: z
      .string()
      .min(1)
      .meta({ secret: true })
      .describe('PostgreSQL with schema `identity`, as the role of this service.'),
    MANAGEMENT_ADDRESS: serviceAddressSchema.describe('management, which takes the answers to authority grants.'),
    PRINCIPAL_PRIVATE_KEY: file.describe('Private Ed25519 JWK that signs statements about principals.'),
    RECEIPT_SIGNING_KEY: file.describe('Private Ed25519 JWK that signs receipts.'),
    ACCESS_TOKEN_SIGNING_KEYS: file.describe('Private keys (JWKS, ES256) that sign access tokens, the newest first.'),
    SECOND_FACTOR_KEYS: file.describe(
      'Octet keys (JWKS, 256 bits each) that encrypt the secrets of second factors, the newest first.',
    ),
    BASE_URL: z
      .url()
      .refine(isCookieOrigin, 'expected https, or http on this machine: sessions are cookies')
      .describe(
        'Public root of this service, without a slash at the end: the issuer of access tokens. https, or http on this machine.',
      ),
    API_URL: z.url().describe('Public root of the ad server APIs: the audience of access tokens lies under it.'),
    MCP_URL: z.url().describe('Public root of the MCP server.'),
    MAIL_URL: z
      .url({ protocol: /^smtps?$/ })
      .optional()
      .meta({ secret: true })
      .describe('`smtp://…` or `smtps://…`: the way of mails. One of it and `MAIL_FOLDER` is required.'),
    MAIL_FOLDER: z
      .string()
      .min(1)
      .optional()
      .meta({ kind: 'folder' })
      .describe('Where mails become files while there is no `MAIL_URL`.'),
    MAIL_FROM: z
      .string()
      .min(3)
      .optional()
      .describe('Sender of mails: `Name <address>`. Without it no-reply at the host of `BASE_URL`.'),
    PLANS_FILE: z
      .string()
      .default(fileURLToPath(new URL('../data/plans.json', import.meta.url)))
      .meta({ kind: 'file', defaultText: 'the plans of Longwave' })
      .describe('[Plans](plans.md) of your own.'),
  })
  .refine(({ MAIL_URL, MAIL_FOLDER }) => MAIL_URL ?? MAIL_FOLDER, 'expected MAIL_URL or MAIL_FOLDER');

export type AuthServerConfig = Readonly<z.output<typeof configuration>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): AuthServerConfig =>
  readConfig(configuration, environment);
