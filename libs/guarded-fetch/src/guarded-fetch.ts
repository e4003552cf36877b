import type { LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Problem } from '@longwave/problems';
import { checkUrl, type CheckedUrl } from './check-url.ts';
import { decodedBody, readBounded, refuse, tooLarge } from './read-body.ts';
import { isPublicAddress } from './public-address.ts';
import { createPublicResolver, resolveBySystem, type ResolveHost } from './resolve-host.ts';
import { startTimeLimits, type TimeLimits } from './time-limits.ts';

export interface GuardedRequest {
  /** Default `GET`. A `POST` follows no redirect: the redirect itself is its answer. */
  readonly method?: 'GET' | 'HEAD' | 'POST';
  /** The body of a `POST`, with its media type. */
  readonly content?: { readonly type: string; readonly bytes: Uint8Array };
  /** Such as `accept` or `if-none-match`; never credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The credential of this installation, for an address that its operator configured. It goes to this address alone: no redirect is
   * followed, the redirect itself is the answer.
   */
  readonly authorization?: string;
  /** The requested bytes (RFC 9110 §14.2), such as "bytes=0-65535". The host may answer 200 with everything. */
  readonly range?: string;
  /** The body may hold this much, decoded; one byte more ends it with a problem. */
  readonly maxBytes: number;
  /** The time for names, redirects, headers and body together. */
  readonly timeoutMs: number;
  /** How long the host may stay silent, the reader's own pace not counted; default 20 s. */
  readonly idleTimeoutMs?: number;
  /** Default 5. */
  readonly maxRedirects?: number;
  /** False: a redirect is the answer, as to a `POST`. */
  readonly followsRedirects?: boolean;
  /** Whether a host may be asked, the first one and that of each redirect: its name in small letters, without a port. Default: any. */
  readonly allowsHost?: (host: string) => boolean;
  /** Called before each connection: until then nothing was sent to anybody. */
  readonly onConnect?: () => void;
  /** Ends the request; its reason is thrown as it is. */
  readonly signal?: AbortSignal;
}

/** An answer of any status; a redirect only to a request that follows none. Dispose it (`using`), or read its body to the end. */
interface GuardedResponse extends Disposable {
  readonly status: number;
  /** By lower-case name; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** The address after the last redirect, without fragment. */
  readonly finalUrl: string;
  /** May be read once; however the reading ends, the connection is closed. Throws `media_not_fetchable` when it breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type GuardedFetch = (url: string, request: GuardedRequest) => Promise<GuardedResponse>;

/** Headers that are the fetcher's own, and those that would carry a credential. */
const ownHeaders =
  /^(host|connection|accept-encoding|user-agent|range|cookie|authorization|proxy-.*|transfer-encoding|content-.*)$/i;

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** 16 KiB of headers are plenty for a media host; more ends the request. */
const maxHeaderBytes = 16_384;

/** A lookup that knows one answer: the name is never resolved a second time. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, { all }, done) => {
    if (all) done(null, [...addresses]);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };

/**
 * The only way to fetch an address that a client named (SSRF guard). Every hop, redirects too, is https on port 443 at a
 * public address: the name is resolved once, each of its addresses is checked, and the connection goes to those and no
 * other, so a name that changes its address between check and use gains nothing. No cookies, credentials or shared
 * connections; uncompressed bodies are requested; time, silence, size, headers and redirects are bounded.
 *
 * Every failure is `media_not_fetchable` with a sentence for the podcaster; a failure of the host has its technical reason as private
 * `cause`. A caller's own `signal` throws its own reason.
 * @param options.allowOrigins origins (`https://host[:port]`) that may be private, http or on another port
 * @param options.resolve where names are looked up; default: the name servers themselves, and the system's resolver for `allowOrigins`
 */
export function createGuardedFetch(
  options: {
    readonly allowOrigins?: readonly string[];
    readonly resolve?: ResolveHost;
    readonly userAgent?: string;
  } = {},
): GuardedFetch {
  const allowed = new Set((options.allowOrigins ?? []).map((origin) => new URL(origin).origin));
  const resolveForeign = options.resolve ?? createPublicResolver();
  const resolveAllowed = options.resolve ?? resolveBySystem;
  const userAgent = options.userAgent ?? 'Longwave/1.0 (podcast hosting)';

  /** The addresses the connection may go to: all of the host's, when all of them are public. */
  async function findAddresses({ host, allowed: any }: CheckedUrl, signal: AbortSignal) {
    const family = isIP(host);
    const resolve = any ? resolveAllowed : resolveForeign;
    const found = family > 0 ? [{ address: host, family }] : await resolve(host, signal);
    if (found.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
    if (!any && !found.every(({ address }) => isPublicAddress(address))) throw notPublic();
    return found;
  }

  function send(
    { url, host }: CheckedUrl,
    addresses: readonly LookupAddress[],
    request: GuardedRequest,
    signal: AbortSignal,
  ) {
    const { range, content, authorization } = request;
    return new Promise<IncomingMessage>((answered, failed) => {
      const startRequest = url.protocol === 'https:' ? httpsRequest : httpRequest;
      const outgoing = startRequest({
        hostname: host,
        ...(url.port !== '' && { port: url.port }),
        path: `${url.pathname}${url.search}`,
        method: request.method ?? 'GET',
        headers: {
          accept: '*/*',
          ...request.headers,
          host: url.host,
          'user-agent': userAgent,
          'accept-encoding': 'identity',
          ...(range && { range }),
          ...(authorization !== undefined && { authorization }),
          ...(content && { 'content-type': content.type, 'content-length': String(content.bytes.byteLength) }),
        },
        agent: false,
        lookup: pinned(addresses),
        maxHeaderSize: maxHeaderBytes,
        signal,
        ...(isIP(host) === 0 && { servername: host }),
      });
      outgoing.once('response', answered);
      // Stays attached: a connection that breaks after the answer is reported by the body.
      outgoing.on('error', failed);
      outgoing.end(content?.bytes);
    });
  }

  return async (url, request) => {
    for (const name of Object.keys(request.headers ?? {}))
      if (ownHeaders.test(name)) throw new TypeError(`The header ${name} is not the caller's to set.`);
    const hasCredential = request.authorization !== undefined;
    const follows = request.method !== 'POST' && !hasCredential && request.followsRedirects !== false;
    const limits = startTimeLimits(request.timeoutMs, request.idleTimeoutMs ?? 20_000, request.signal);
    try {
      let hop = checkUrl(url, allowed);
      for (let followed = 0; ; followed += 1) {
        if (request.allowsHost?.(hop.host) === false)
          throw refuse(`The address leads to the host ${hop.host}, which is not on the list.`);
        const addresses = await limits.within(findAddresses(hop, limits.signal));
        request.onConnect?.();
        const answer = await limits.within(send(hop, addresses, request, limits.signal));
        // A reader gets the error through the iterator; without a reader it is ignored.
        answer.on('error', () => undefined);
        const { location } = answer.headers;
        if (!follows || !redirects.includes(answer.statusCode!) || location === undefined)
          return respond(answer, hop, request, limits);
        answer.destroy();
        if (followed >= (request.maxRedirects ?? 5)) throw refuse('The address redirects too many times.');
        hop = checkUrl(location, allowed, hop.url);
      }
    } catch (error) {
      limits.end();
      throw asProblem(error, limits);
    }
  };
}

/** Wraps an answer whose announced size and encoding are acceptable. Throws `media_not_fetchable`. */
function respond(
  answer: IncomingMessage,
  hop: CheckedUrl,
  { method, maxBytes }: GuardedRequest,
  limits: TimeLimits,
): GuardedResponse {
  const close = () => {
    limits.end();
    answer.destroy();
  };
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value!]),
  );
  try {
    if (method !== 'HEAD' && Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    const stream = method === 'HEAD' ? answer : decodedBody(answer);
    return {
      status: answer.statusCode!,
      headers,
      finalUrl: hop.url.href,
      body: readBounded(stream, {
        maxBytes,
        within: limits.within,
        close,
        asProblem: (error) => asProblem(error, limits),
      }),
      [Symbol.dispose]: close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** The same answer for missing and private hosts, so that it does not tell which names a private network has. */
const notPublic = (cause?: unknown) => refuse('No public host with this name was found. Check the address.', cause);

const noSuchHost: readonly string[] = ['ENOTFOUND', 'ENODATA', 'EAI_AGAIN', 'EAI_NONAME'];

function asProblem(error: unknown, limits: TimeLimits): unknown {
  if (limits.signal.aborted) return limits.signal.reason;
  if (error instanceof Problem) return error;
  const { code = '' } = error as { code?: string };
  if (noSuchHost.includes(code)) return notPublic(error);
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code))
    return refuse('The certificate of the host is not valid.', error);
  if (code.startsWith('HPE_')) return refuse('The host does not answer like a web server.', error);
  return refuse(
    'The host cannot be reached, or the connection was interrupted. Try again later, or give another address.',
    error,
  );
}
