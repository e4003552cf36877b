import type { Configuration } from 'oidc-provider';

const minute = 60;
const day = 86_400;

/** A grant ends this long after consent; then the person is asked again. */
export const grantSeconds = 180 * day;

/** How long artifacts live, in seconds. Tokens of machines and access tokens: see `resourcesOf`. */
export const lifetimes: NonNullable<Configuration['ttl']> = {
  AuthorizationCode: minute,
  Interaction: 10 * minute,
  Grant: grantSeconds,
  // The library's own session is never stored; this is the life of its cookie.
  Session: 10 * minute,
  // Since the last use. The family ends with its grant.
  RefreshToken: 30 * day,
  AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? 15 * minute,
  ClientCredentials: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? 10 * minute,
};
