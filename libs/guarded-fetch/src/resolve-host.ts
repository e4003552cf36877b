import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { createGate } from '@longwave/service-kit';

/** Resolves a host name to every address it has; rejects when there is none, and may give up when the signal is aborted. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/** Lookups of foreign names that run at a time in this process; further ones wait. */
const maxLookups = 100;
/** Milliseconds until a name server is asked again. */
const retryMs = 2_000;
/** For all tries of one name, in milliseconds. */
const lookupMs = 5_000;

const gate = createGate(maxLookups);

/**
 * The system's resolver, which knows `/etc/hosts` and local names. Each lookup holds one of the four threads of libuv, which files and
 * cryptography need too: it is for names that the operator has chosen.
 */
export const resolveBySystem: ResolveHost = (host) =>
  new Promise((resolve, reject) =>
    systemLookup(host, { all: true }, (error, found) => (error ? reject(error) : resolve(found))),
  );

/**
 * Asks name servers over sockets of its own (c-ares), so that a name that is answered slowly or never occupies no thread. Of the two
 * families, IPv4 and IPv6, one may be missing.
 * @param options.servers default: those of the system
 */
export function createPublicResolver(options: { readonly servers?: readonly string[] } = {}): ResolveHost {
  return (host, signal) =>
    gate(async () => {
      const resolver = new Resolver({ timeout: retryMs, tries: 2 });
      if (options.servers) resolver.setServers(options.servers);
      const over = AbortSignal.any([signal, AbortSignal.timeout(lookupMs)]);
      const cancel = () => resolver.cancel();
      over.throwIfAborted();
      over.addEventListener('abort', cancel, { once: true });
      try {
        const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
        const found = families.flatMap((answer, index) =>
          answer.status === 'fulfilled'
            ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 }))
            : [],
        );
        if (found.length === 0) throw failureOf(families);
        return found;
      } finally {
        over.removeEventListener('abort', cancel);
      }
    }, signal);
}

/** Why a name has no address: a server that did not answer says more than a family that the name does not have. */
function failureOf(families: readonly PromiseSettledResult<readonly string[]>[]): unknown {
  const reasons = families.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  const hasOtherReason = (reason: unknown) => (reason as { readonly code?: string }).code !== 'ENODATA';
  return reasons.find(hasOtherReason) ?? reasons[0] ?? Object.assign(new Error('no address'), { code: 'ENODATA' });
}
