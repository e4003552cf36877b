import { fileURLToPath } from 'node:url';
import { addressRangesSetting } from '@longwave/audience';
import { isCookieOrigin } from '@longwave/principal';
import { addressSchema, busConfig, commonConfig, fetchConfig, readConfig } from '@longwave/service-kit';
import { z } from 'zod';

const schema = z
  .object({
    ...commonConfig,
    ...busConfig,
    // Metadata documents of connectors.
    ...fetchConfig,
    GRPC_LISTEN: addressSchema,
    /** Pages for people, and OAuth. */
    HTTP_LISTEN: addressSchema,
    /** Proxies whose X-Forwarded-For is believed; attempts to sign in are limited by the address of the client. */
    TRUSTED_PROXIES: addressRangesSetting,
    DATABASE_URL: z.string().min(1),
    MANAGEMENT_ADDRESS: addressSchema,
    /** Path of a private Ed25519 JWK; signs statements about principals. */
    PRINCIPAL_PRIVATE_KEY: z.string().min(1),
    /** Path of a private Ed25519 JWK; signs receipts. */
    RECEIPT_SIGNING_KEY: z.string().min(1),
    /** Path of the private keys (JWKS, ES256) that sign access tokens, the newest first. */
    ACCESS_TOKEN_SIGNING_KEYS: z.string().min(1),
    /** Path of the octet keys (JWKS, 256 bits each) that encrypt the secrets of second factors, the newest first. */
    SECOND_FACTOR_KEYS: z.string().min(1),
    /** Public root of this service, without a slash at the end: the issuer of access tokens. */
    BASE_URL: z.url().refine(isCookieOrigin, 'expected https, or http on this machine: sessions are cookies'),
    /** Public root of the ad server APIs: the audience of access tokens lies under it. */
    API_URL: z.url(),
    /** Public root of the MCP server. */
    MCP_URL: z.url(),
    /** `smtp://…` or `smtps://…`: the way of mails. Without it they become files in MAIL_FOLDER. */
    MAIL_URL: z.url({ protocol: /^smtps?$/ }).optional(),
    MAIL_FOLDER: z.string().min(1).optional(),
    /** Sender of mails: `Name <address>`. Default: no-reply at the host of BASE_URL. */
    MAIL_FROM: z.string().min(3).optional(),
    PLANS_FILE: z.string().default(fileURLToPath(new URL('../data/plans.json', import.meta.url))),
  })
  .refine(({ MAIL_URL, MAIL_FOLDER }) => MAIL_URL ?? MAIL_FOLDER, 'expected MAIL_URL or MAIL_FOLDER');

export type AuthServerConfig = Readonly<z.output<typeof schema>>;

/** Configuration from the environment. Throws `ConfigError` naming everything that is wrong. */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>): AuthServerConfig =>
  readConfig(schema, environment);
