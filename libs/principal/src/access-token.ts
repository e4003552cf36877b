import { decodeProtectedHeader, importJWK, jwtVerify, SignJWT, type JWK } from 'jose';
import { z } from 'zod';

/** Scopes of the Audience Analytics Sink API: `write` sends batches, `read` reads their state. Neither implies the other. */
export const audienceScopes = ['audience:write', 'audience:read'] as const;
export type AudienceScope = (typeof audienceScopes)[number];

/** Name of a party that sends measurements. */
export const producerPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Claims of every access token (RFC 9068 §2.2). */
const accessTokenClaims = z.object({
  /** `{base_url}`. */
  iss: z.string(),
  /** The one API that may accept it. */
  aud: z.string(),
  sub: z.string(),
  client_id: z.string(),
  /** Separated by spaces. */
  scope: z.string(),
  /** Seconds since the epoch. */
  iat: z.int(),
  exp: z.int(),
  jti: z.string(),
});
export type AccessTokenClaims = z.infer<typeof accessTokenClaims>;

/** Claims of an access token for the Audience Analytics Sink API, two of them our own. */
export const audienceTokenClaims = accessTokenClaims.extend({
  producer: z.string().regex(producerPattern),
  /** The workspaces that it may report about. */
  workspaces: z.array(z.string()).min(1),
});
export type AudienceTokenClaims = z.infer<typeof audienceTokenClaims>;

/** Claims of an access token for the Hosting Exchange API, two of them our own. */
export const exchangeTokenClaims = accessTokenClaims.extend({
  /** The workspace and the authority grant for which the client speaks; it has no other. */
  workspace: z.string(),
  authority: z.string(),
});
export type ExchangeTokenClaims = z.infer<typeof exchangeTokenClaims>;

const algorithm = 'ES256';

type ImportedKey = Awaited<ReturnType<typeof importJWK>>;
const imported = new WeakMap<JWK, Promise<ImportedKey>>();

function keyOf(jwk: JWK): Promise<ImportedKey> {
  const known = imported.get(jwk) ?? importJWK(jwk, algorithm);
  imported.set(jwk, known);
  return known;
}

/**
 * An access token for the Audience Analytics Sink API (compact JWS, `at+jwt`, ES256).
 * @param key private JWK with a `kid`
 */
export async function signAccessToken(claims: AudienceTokenClaims, key: JWK): Promise<string> {
  if (!key.kid) throw new Error('a key that signs access tokens needs a kid');
  return new SignJWT({ ...audienceTokenClaims.parse(claims) })
    .setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid: key.kid })
    .sign(await keyOf(key));
}

/**
 * The claims of an access token that is valid for one API now; undefined for any other text. It checks the signature by the key of the
 * `kid`, `alg`, `typ`, `iss` and the single `aud` exactly, `exp`, `nbf` and the form of every claim (RFC 9068 §4).
 * @param claims the claims that the API needs
 * @param options.findKey the public key of a `kid`
 */
export async function tryVerifyAccessToken<C>(
  token: string,
  claims: z.ZodType<C>,
  options: {
    readonly findKey: (kid: string) => JWK | undefined;
    readonly issuer: string;
    readonly audience: string;
    readonly now: Date;
  },
): Promise<C | undefined> {
  const { findKey, issuer, audience, now } = options;
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    const key = typeof kid === 'string' && alg === algorithm ? findKey(kid) : undefined;
    if (!key) return undefined;
    const { payload } = await jwtVerify(token, await keyOf(key), {
      algorithms: [algorithm],
      typ: 'at+jwt',
      issuer,
      audience,
      requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id'],
      currentDate: now,
    });
    return claims.safeParse(payload).data;
  } catch {
    return undefined;
  }
}

/** Longer than any token that is issued. */
const maxTokenLength = 8_192;

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1), or undefined. */
export function bearerOf(authorization: string | undefined): string | undefined {
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '')?.[1];
  return token !== undefined && token.length <= maxTokenLength ? token : undefined;
}
