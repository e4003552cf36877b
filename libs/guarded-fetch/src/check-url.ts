import { isIP } from 'node:net';
import { refuse } from './read-body.ts';

/** One hop whose URL is allowed; its addresses are still to be checked. */
export interface CheckedUrl {
  readonly url: URL;
  /** Without brackets and final dot; the name that is resolved, sent as SNI and checked against the certificate. */
  readonly host: string;
  /** The operator allows this origin with any scheme, port and network. */
  readonly allowed: boolean;
}

/** Ends a refusal that the operator can lift. */
const orAllowed = ', unless FETCH_ALLOW_ORIGINS of the service has its origin.';

/**
 * Reads an address that a client named. An `http:` address of the usual port is fetched over https, as browsers do.
 * Throws `media_not_fetchable` for other schemes, a user name or password, or another port than 443: services on other
 * ports are hardly ever a podcast's host, and connecting to them would make this service a port scanner.
 * @param base the address that redirected here
 */
export function checkUrl(text: string, allowedOrigins: ReadonlySet<string>, base?: URL): CheckedUrl {
  const url = URL.parse(text, base?.href);
  if (!url || url.hostname === '') throw refuse('This is not a web address. Give one that begins with https://.');
  url.hash = '';
  if (url.username !== '' || url.password !== '')
    throw refuse('The address contains a user name or a password. Give a public address.');
  const allowed = allowedOrigins.has(url.origin);
  if (!allowed) {
    if (url.protocol === 'http:' && url.port === '') url.protocol = 'https:';
    if (url.protocol !== 'https:') throw refuse(`The address must begin with https://${orAllowed}`);
    if (url.port !== '')
      throw refuse(`The address contains a port. Give an address that uses the standard https port${orAllowed}`);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (host === '' || (isIP(host) === 0 && /[^a-z0-9._-]/.test(host))) throw refuse('This is not a web address.');
  return { url, host, allowed };
}
