import type { IncomingHttpHeaders } from 'node:http';
import { admitCookie, bearerOf, cookieName, cookieOf, sessionCookie } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { Carrier } from '@longwave/rpc/credential';

/** Far above every credential that is ever issued. */
const maxCredentialLength = 4_096;

/** A credential and how it came. */
export interface Carried {
  readonly credential: string;
  readonly carrier: Carrier;
}

/**
 * Whether a request was sent to the host of `{base_url}`, where pages of the web application send it. One service answers at both hosts, and
 * every proxy in front of it passes `Host` on.
 */
export function isAtBase({ host }: Pick<IncomingHttpHeaders, 'host'>, baseUrl: string): boolean {
  const base = new URL(baseUrl);
  return host !== undefined && URL.parse(`${base.protocol}//${host}`)?.host === base.host;
}

const invalid = () => new Problem('token_invalid', 'The token is not valid here.');

/** The session of a page of the web application. A request with a header for credentials is one of a program. */
function sessionOf(headers: IncomingHttpHeaders, baseUrl: string): Carried {
  if (headers.authorization !== undefined || headers['token'] !== undefined) throw invalid();
  const session = cookieOf(headers.cookie, cookieName(sessionCookie, baseUrl));
  if (session === undefined) throw new Problem('token_missing', 'Sign in.');
  if (session.length > maxCredentialLength) throw invalid();
  // Any site can make a browser send a cookie.
  if (!admitCookie(headers, baseUrl))
    throw new Problem('permission_denied', 'A session is accepted from the pages of this application only.');
  return { credential: session, carrier: Carrier.COOKIE };
}

/**
 * The credential of a request: at the host of `{base_url}` the session of a cookie and nothing else, at every other host the token of an
 * `Authorization` header and never a cookie. Throws `token_missing`, `token_invalid`, and `permission_denied` for a session that a page of
 * another site sends.
 */
export function carriedBy(headers: IncomingHttpHeaders, baseUrl: string): Carried {
  if (isAtBase(headers, baseUrl)) return sessionOf(headers, baseUrl);
  const { authorization } = headers;
  if (authorization === undefined) throw new Problem('token_missing', 'Send a token: Authorization: Bearer ….');
  const credential = bearerOf(authorization);
  if (credential === undefined) throw invalid();
  return { credential, carrier: Carrier.HEADER };
}
