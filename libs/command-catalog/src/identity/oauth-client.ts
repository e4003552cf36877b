import { apiScopes, producerPattern, type ApiScope, type ProtectedApi } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { reference, sha256, shortText } from '../fields.ts';

const apis = Object.keys(apiScopes) as [ProtectedApi, ...ProtectedApi[]];
const scopes = Object.values(apiScopes).flat() as [ApiScope, ...ApiScope[]];

/** A client ID metadata document has its address as id. */
const oauthClientId = z.string().regex(/^[A-Za-z0-9._~:/%-]{1,255}$/);

/** Whether http at this address never leaves the machine of the person. */
const isLoopback = ({ protocol, hostname, port }: URL): boolean =>
  protocol === 'http:' && hostname === '127.0.0.1' && port !== '';

/**
 * An address to which answers go, compared character by character (RFC 9700 §4.1.3): https, or http on a loopback address with a port
 * (RFC 8252 §7.3).
 */
const redirectUri = z
  .string()
  .max(500)
  .refine(
    (text) => {
      const url = URL.parse(text);
      if (!url || /[\s#]/.test(text) || url.username !== '' || url.password !== '') return false;
      return url.protocol === 'https:' || isLoopback(url);
    },
    { error: 'Write an https address without a fragment, or http://127.0.0.1:PORT/… .' },
  );

/** A public key that verifies the assertions of a client (RFC 7517). */
const publicKey = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  y: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  kid: z.string().min(1).max(128).optional(),
  use: z.literal('sig').optional(),
  alg: z.literal('ES256').optional(),
});

const fields = {
  name: shortText,
  /** `none` for programs on the machines of people, which keep no secret. */
  token_endpoint_auth_method: z.enum(['none', 'client_secret_basic', 'private_key_jwt']),
  /** SHA-256 of the secret, which has 256 random bits and is stored nowhere. */
  secret_digest: sha256.optional(),
  jwks: z.strictObject({ keys: z.array(publicKey).min(1).max(8) }).optional(),
  grant_types: z.array(z.enum(['authorization_code', 'refresh_token', 'client_credentials'])).min(1),
  redirect_uris: z.array(redirectUri).max(20),
  /** The APIs that it may ask tokens for. */
  resources: z.array(z.enum(apis)).min(1),
  /** The scopes that it may ask for. */
  scopes: z.array(z.enum(scopes)).min(1),
  /** Of a machine client of the Audience Analytics Sink API: the name under which it sends measurements. */
  producer: z.string().regex(producerPattern).optional(),
  /** Of a machine client of that API: the workspaces that it may report about. */
  workspaces: z.array(reference('ws')).min(1).max(100).optional(),
  /** Of a machine client of the Hosting Exchange API: the one workspace and the one authority grant for which it speaks. */
  authority: z.strictObject({ workspace_id: reference('ws'), authority_id: reference('agr') }).optional(),
} as const;

const kind = z.enum(['command_line', 'connector', 'partner', 'management', 'machine']);

/** Clients of the authorization server. An https address as `client_id` names a document that must agree with this record. */
export const oauthClients = defineResource({
  type: 'oauth_clients',
  noun: 'oauth_client',
  prefix: 'ocl',
  attributes: z.strictObject({ client_id: oauthClientId, kind, ...fields }),
  states: ['active', 'disabled'],
  terminalStates: [],
  links: {},
  uniqueAttributes: ['client_id'],
});

export const oauthClientCommands = {
  'oauth_client.register': defineCommand({
    type: 'oauth_client.register',
    subject: 'oauth_clients',
    to: 'active',
    changes: z.strictObject({ client_id: oauthClientId, kind, ...fields }),
    machines: ['operator', 'auth-server'],
    event: 'oauth_client.registered',
    hasRule: true,
    problems: ['value_taken', 'validation_failed'],
    summary: 'Registers a program that asks people, or the service itself, for access tokens.',
  }),
  'oauth_client.revise': defineCommand({
    type: 'oauth_client.revise',
    subject: 'oauth_clients',
    from: ['active', 'disabled'],
    changes: z.strictObject(fields).partial(),
    machines: ['operator'],
    event: 'oauth_client.revised',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Changes what a client may ask for, its addresses, or how it proves who it is.',
  }),
  'oauth_client.disable': defineCommand({
    type: 'oauth_client.disable',
    subject: 'oauth_clients',
    from: ['active'],
    to: 'disabled',
    changes: z.strictObject({}),
    machines: ['operator'],
    event: 'oauth_client.disabled',
    externalEffect: 'It gets no tokens, and those that it has are refused at the next request.',
    summary: 'Disables a client; it may be enabled again.',
  }),
  'oauth_client.enable': defineCommand({
    type: 'oauth_client.enable',
    subject: 'oauth_clients',
    from: ['disabled'],
    to: 'active',
    changes: z.strictObject({}),
    machines: ['operator'],
    event: 'oauth_client.enabled',
    externalEffect: 'Tokens that it got before work again until they expire.',
    summary: 'Enables a disabled client.',
  }),
} as const;
