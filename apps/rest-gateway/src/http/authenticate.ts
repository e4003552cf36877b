import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { SenderOf } from '@longwave/audience';
import type { Caller } from '@longwave/hosting-client';
import type { LookUpAtAuthServer } from '@longwave/http-kit/limit-wrong-credentials';
import type { Verifier } from '@longwave/http-kit/verify-under-lease';
import { admitCookie, cookieName, cookieOf, sessionCookie } from '@longwave/principal';
import { Api, Carrier, Refusal } from '@longwave/rpc/credential';
import { RestFailure, type RestError } from './rest-failure.ts';

/** Far above every credential that is ever issued. */
const maxCredentialLength = 4_096;

/** The credential of a request: the `Token` header is read first, then `Authorization`. */
export function credentialOf(headers: IncomingHttpHeaders): string | undefined {
  const { token, authorization = '' } = headers;
  const bearer = authorization.slice(0, 7).toLowerCase() === 'bearer ' ? authorization.slice(7).trim() : '';
  const text = (typeof token === 'string' && token.trim()) || bearer;
  return text === '' || text.length > maxCredentialLength ? undefined : text;
}

/** A credential and how it came. */
interface Carried {
  readonly credential: string;
  readonly carrier: Carrier;
}

/**
 * The credential of a request: that of a header, else the session of a cookie. A request by cookie has to come from a page of our own:
 * any site can make a browser send one. Throws `RestFailure`.
 */
export function carriedBy(headers: IncomingHttpHeaders, baseUrl: string): Carried {
  const credential = credentialOf(headers);
  if (credential !== undefined) return { credential, carrier: Carrier.HEADER };
  const isHeaderSent = headers['token'] !== undefined || headers.authorization !== undefined;
  const session = isHeaderSent ? undefined : cookieOf(headers.cookie, cookieName(sessionCookie, baseUrl));
  if (session === undefined || session.length > maxCredentialLength)
    throw new RestFailure(answers[Refusal.UNKNOWN_USER]);
  if (!admitCookie(headers, baseUrl)) throw new RestFailure(foreignPage);
  return { credential: session, carrier: Carrier.COOKIE };
}

const foreignPage: RestError = {
  status: 403,
  message: 'A session is accepted from the pages of this application only.',
};

const unauthorized = (message: string, reason?: string): RestError => ({
  status: 401,
  message,
  ...(reason && { reason }),
  headers: { 'WWW-Authenticate': 'Bearer' },
});
const refused = (reason: string) => unauthorized('You are not authorized to access this area.', reason);

/** The answer to each refusal of a credential. */
const answers: Readonly<Record<Refusal, RestError>> = {
  [Refusal.UNKNOWN_USER]: refused('unknown_user'),
  [Refusal.UNSPECIFIED]: refused('unknown_user'),
  [Refusal.UNRECOGNIZED]: refused('unknown_user'),
  [Refusal.API_ACCESS_NOT_AVAILABLE]: refused('api_access_not_available'),
  [Refusal.SUSPENDED_SUBSCRIPTION]: refused('suspended_subscription'),
  [Refusal.MCP_CREDENTIAL]: unauthorized('This MCP credential is not valid for the legacy API.'),
  [Refusal.CLIENT_BLOCKED]: {
    status: 503,
    // Every request of a blocked client gets it, so it is not logged as a fault.
    routine: true,
    message: 'This client is blocked. Please contact support if you think that this is an error.',
  },
};

export type Authenticate = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => Promise<Caller>;

/** Verifies the credential of every request, and bounds how often wrong ones are looked up. Throws `RestFailure` when it is missing or refused. */
export const createAuthenticate =
  (
    { verify }: Pick<Verifier, 'verify'>,
    lookUpCredential: LookUpAtAuthServer,
    senderOf: SenderOf,
    baseUrl: string,
  ): Authenticate =>
  async (request) => {
    const { credential, carrier } = carriedBy(request.headers, baseUrl);
    const outcome = await lookUpCredential(
      // What is wrong in a header may be right in a cookie.
      carrier === Carrier.COOKIE ? `cookie ${credential}` : credential,
      senderOf(request),
      () => verify({ credential, api: Api.REST, carrier }),
    );
    if (outcome?.$case !== 'principal') throw new RestFailure(answers[outcome?.value ?? Refusal.UNKNOWN_USER]);
    const { plan } = outcome.value;
    if (!plan) throw new Error('auth-server named a principal without a plan');
    return { ...outcome.value, plan };
  };
