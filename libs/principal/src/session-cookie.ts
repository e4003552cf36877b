import { z } from 'zod';

/** Names of this machine to which browsers give the rights of a secure origin. */
const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

const isSecure = (baseUrl: string): boolean => new URL(baseUrl).protocol === 'https:';

/** Whether sessions may be kept at this address: https, or http that does not leave the machine. */
export function isCookieOrigin(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'https:' || (protocol === 'http:' && loopbackHosts.includes(hostname));
}

/**
 * The whole name of a cookie of `{base_url}`. With `__Host-` no other host can set it (RFC 6265bis §4.1.3.2); a plain http address of this
 * machine has no such protection.
 */
export const cookieName = (name: string, baseUrl: string): string => (isSecure(baseUrl) ? `__Host-${name}` : name);

/** The attributes of every cookie of `{base_url}`. */
export const cookieAttributes = (baseUrl: string): string =>
  `Path=/; HttpOnly; SameSite=Lax${isSecure(baseUrl) ? '; Secure' : ''}`;

/** Base name of the cookie of a session. */
export const sessionCookie = 'lw_session';

/** The value of a cookie, or undefined when it is missing, empty or there twice: then nobody can tell which one is ours. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

/** The headers by which a browser says where a request comes from. */
const originHeaders = z.object({
  'sec-fetch-site': z.string().optional(),
  origin: z.string().optional(),
});

/**
 * Whether a request that a cookie authenticates was sent by a page of `{base_url}` itself (Fetch Metadata, `Sec-Fetch-Site`): no other
 * site, and no other host of this one, may act with the session. A browser without that header proves it by `Origin`.
 */
export function admitCookie(headers: Readonly<Record<string, unknown>>, baseUrl: string): boolean {
  const parsed = originHeaders.safeParse(headers);
  if (!parsed.success) return false;
  const { 'sec-fetch-site': site, origin } = parsed.data;
  return site === undefined ? origin === new URL(baseUrl).origin : site === 'same-origin';
}
