import { createSecretKey, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  addressKeyBytes,
  clientAddress,
  dailyAddressKey,
  dayMs,
  keyMonths,
  listenerKey,
  normaliseUserAgent,
  periodSecret,
  userAgentDigest,
  type AddressSet,
  type AddressVerdict,
  type AudienceLists,
  type NetworkLists,
} from '@longwave/audience';
import type { FindPlace, Place } from './country.ts';
import { masterOf, type ListenerSecret } from './listener-secrets.ts';

/** A client as it is known beyond this file: keys and verdicts, not its address. */
export interface Listener extends Place {
  /** Hex (docs/counting.md#definitions, Listener). */
  readonly key: string;
  /** The key under the previous secret, during the first 48 h of a month. */
  readonly previousKey: string | undefined;
  readonly addressKey: string;
  /** The address key on this UTC day and on the one before; bindings of the last 24 h have one of them. */
  readonly addressKeys: readonly [today: string, yesterday: string];
  readonly addressVerdict: AddressVerdict;
  /** The safe list holds the address. */
  readonly addressSafe: boolean;
  /** '' when none was sent. */
  readonly userAgent: string;
  readonly userAgentDigest: string | null;
  /** Sec-Purpose, Purpose or X-Moz announce a prefetch or preview. */
  readonly prefetch: boolean;
  /** The referrer, or its absence, is on the preload list. The referrer itself is not kept. */
  readonly preload: boolean;
  /** The web player whose page asked, by the list of referrers. */
  readonly webPlayer: string | undefined;
  /** Our own monitors, validators and previews, by address or by user agent. */
  readonly internal: boolean;
  /** Gets a file but never causes a decision: prefetches, Apple's Scout, requests that are not counted. */
  readonly isDryRun: boolean;
}

export interface IdentifyOptions {
  /** The masters of now; the same list as long as they are the same. */
  readonly secrets: () => readonly ListenerSecret[];
  readonly trustedProxies: AddressSet;
  readonly networks: NetworkLists;
  readonly isPreload: AudienceLists['isPreload'];
  readonly findWebPlayer: AudienceLists['findWebPlayer'];
  readonly internalAddresses: AddressSet;
  readonly findPlace: FindPlace;
}

export type IdentifyListener = (request: IncomingMessage, at: Date) => Listener;

const first = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join(',') : (header ?? ''));

/** How the user agents of our own fetches begin: feed checks, validators, imports. */
const ownAgents = 'Longwave/';

/** The part of a listener that is the same for every request of one address and user agent within an hour. */
type Client = Omit<Listener, 'prefetch' | 'preload' | 'webPlayer' | 'isDryRun'> & { readonly isScout: boolean };

/** Clients remembered within an hour: their addresses live as long in memory, and nowhere else. */
const maxClients = 10_000;
const hourMs = 3_600_000;

/** True when the request says that nobody has asked to listen yet. */
function isPrefetch({ headers }: IncomingMessage): boolean {
  return ['sec-purpose', 'purpose', 'x-moz'].some((name) => /\b(prefetch|preview)\b/i.test(first(headers[name])));
}

/**
 * Identifies listeners by keyed hashes of address and user agent (docs/counting.md#definitions, Listener). Throws `RangeError` when
 * the socket is gone.
 */
export function createIdentifyListener({
  secrets: mastersOfNow,
  trustedProxies,
  networks,
  isPreload,
  findWebPlayer,
  internalAddresses,
  findPlace,
}: IdentifyOptions): IdentifyListener {
  let masters = mastersOfNow();
  const keys = new Map<string, { readonly monthly: KeyObject; readonly daily: KeyObject }>();
  const keysOf = (month: string) => {
    const master = masterOf(masters, month);
    const known = keys.get(month) ?? {
      monthly: createSecretKey(periodSecret(master, month)),
      daily: createSecretKey(master),
    };
    if (!keys.has(month) && keys.size > 2) keys.clear();
    keys.set(month, known);
    return known;
  };
  function describeClient(address: string, userAgent: string, at: Date): Client {
    const bytes = addressKeyBytes(address);
    const months = keyMonths(at);
    const addressKeyOn = (time: Date) => {
      const day = time.toISOString().slice(0, 10);
      return dailyAddressKey(keysOf(day.slice(0, 7)).daily, bytes, day);
    };
    const addressKey = addressKeyOn(at);
    return {
      key: listenerKey(keysOf(months.current).monthly, bytes, userAgent),
      previousKey:
        months.previous === undefined ? undefined : listenerKey(keysOf(months.previous).monthly, bytes, userAgent),
      addressKey,
      addressKeys: [addressKey, addressKeyOn(new Date(at.getTime() - dayMs))],
      addressVerdict: networks.verdict(address),
      addressSafe: networks.isSafe(address),
      userAgent,
      userAgentDigest: userAgentDigest(userAgent),
      internal: internalAddresses.has(address) || userAgent.startsWith(ownAgents),
      isScout: /(^| )Scout\//.test(userAgent),
      ...findPlace(address),
    };
  }

  let hour = 0;
  const clients = new Map<string, Client>();
  // Forgets addresses even when no further request comes.
  setInterval(() => clients.clear(), hourMs).unref();
  function clientOf(address: string, userAgent: string, at: Date): Client {
    const now = Math.floor(at.getTime() / hourMs);
    const found = mastersOfNow();
    if (found !== masters) {
      masters = found;
      keys.clear();
      clients.clear();
    }
    if (now !== hour || clients.size >= maxClients) clients.clear();
    hour = now;
    const name = `${address}\n${userAgent}`;
    const client = clients.get(name) ?? describeClient(address, userAgent, at);
    clients.set(name, client);
    return client;
  }

  return (request, at) => {
    const peer = request.socket.remoteAddress ?? '';
    const address = clientAddress(peer, request.headers['x-forwarded-for'], trustedProxies);
    const userAgent = normaliseUserAgent(request.headers['user-agent']);
    const { isScout, ...client } = clientOf(address, userAgent, at);
    const prefetch = isPrefetch(request);
    const preload = isPreload(request.headers.referer, userAgent);
    const webPlayer = findWebPlayer(request.headers.referer);
    return { ...client, prefetch, preload, webPlayer, isDryRun: prefetch || isScout };
  };
}
