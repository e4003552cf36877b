import type { IncomingMessage } from 'node:http';
import { createAddressSet, createNetworkLists, parseAddressRange } from '@longwave/audience';
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { loadPlaces, type FindPlace } from './country.ts';
import { createIdentifyListener } from './identify-listener.ts';
import { parseListenerSecrets, type ListenerSecret } from './listener-secrets.ts';

const ranges = (...texts: string[]) => texts.map(parseAddressRange);
const at = new Date('2026-11-21T10:00:00Z');
let findPlace: FindPlace;
beforeAll(async () => {
  findPlace = await loadPlaces(undefined);
});

const only: readonly ListenerSecret[] = [{ master: Buffer.alloc(32, 7), from: undefined }];

const identifier = (when: () => Date, secrets: () => readonly ListenerSecret[] = () => only) => {
  const known = createIdentifyListener({
    secrets,
    trustedProxies: createAddressSet(ranges('10.0.0.0/8')),
    isPreload: (referrer) => referrer === 'https://preloads.example/',
    findWebPlayer: (referrer) => (referrer?.startsWith('https://player.example/') ? 'Example Player' : undefined),
    internalAddresses: createAddressSet(ranges('192.0.2.0/28')),
    networks: createNetworkLists({ dataCentres: ranges('203.0.113.0/24') }, () => when().getTime()),
    findPlace,
  });
  return (peer: string, headers: Record<string, string>) =>
    known({ socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage, when());
};

const identify = (peer: string, headers: Record<string, string>, when = at) => identifier(() => when)(peer, headers);

const agent = { 'user-agent': 'Overcast/3.0' };

test('a forwarded address counts only from a trusted proxy', () => {
  const direct = identify('198.51.100.7', agent);
  expect(identify('10.1.2.3', { ...agent, 'x-forwarded-for': '1.1.1.1, 198.51.100.7' }).key).toBe(direct.key);
  expect(identify('198.51.100.7', { ...agent, 'x-forwarded-for': '1.1.1.1' }).key).toBe(direct.key);
  expect(identify('::ffff:198.51.100.7', agent).key).toBe(direct.key);
  expect(identify('198.51.100.8', agent).key).not.toBe(direct.key);
  expect(identify('198.51.100.7', { 'user-agent': 'Other/1' }).key).not.toBe(direct.key);
});

test('addresses of one IPv6 /64 are one listener', () => {
  expect(identify('2001:db8:1:2:3::4', agent).key).toBe(identify('2001:db8:1:2:ffff::9', agent).key);
  expect(identify('2001:db8:1:3::4', agent).key).not.toBe(identify('2001:db8:1:2::4', agent).key);
});

test('keys change with the month, and for 48 h the old one is known too', () => {
  const november = identify('198.51.100.7', agent, new Date('2026-11-30T23:59:59Z'));
  const early = identify('198.51.100.7', agent, new Date('2026-12-02T23:59:59Z'));
  const later = identify('198.51.100.7', agent, new Date('2026-12-03T00:00:00Z'));
  expect(november.previousKey).toBeUndefined();
  expect(early.previousKey).toBe(november.key);
  expect(early.key).not.toBe(november.key);
  expect([later.key, later.previousKey]).toEqual([early.key, undefined]);
  expect(early.addressKey).not.toBe(later.addressKey);
});

test('a new master begins with its month: no key changes before, and the key of the month before still links', () => {
  const rotated = parseListenerSecrets(`${'08'.repeat(32)}@2026-12,${'07'.repeat(32)}`);
  const times = ['2026-11-30T23:59:59Z', '2026-12-01T00:00:01Z', '2026-12-03T00:00:00Z'].map((time) => new Date(time));
  let now = times[0]!;
  const [old, both] = [only, rotated].map((secrets) =>
    identifier(
      () => now,
      () => secrets,
    ),
  );
  const keysAt = (at: Date, of: typeof old) => {
    now = at;
    const { key, previousKey, addressKeys } = of!('198.51.100.7', agent);
    return { key, previousKey, addressKeys };
  };
  expect(keysAt(times[0]!, both)).toEqual(keysAt(times[0]!, old));
  const [before, after] = [keysAt(times[1]!, old), keysAt(times[1]!, both)];
  expect([after.previousKey, after.addressKeys[1]]).toEqual([before.previousKey, before.addressKeys[1]]);
  expect([after.key === before.key, after.addressKeys[0] === before.addressKeys[0]]).toEqual([false, false]);
  expect(keysAt(times[2]!, both)).toEqual(
    keysAt(
      times[2]!,
      identifier(
        () => now,
        () => rotated.slice(0, 1),
      ),
    ),
  );
});

test('masters that change while it runs count from the next request', () => {
  let secrets: readonly ListenerSecret[] = only;
  const identifyNow = identifier(
    () => at,
    () => secrets,
  );
  const before = identifyNow('198.51.100.7', agent).key;
  secrets = parseListenerSecrets('09'.repeat(32));
  expect(identifyNow('198.51.100.7', agent).key).not.toBe(before);
});

test('nothing that is kept holds the address', () => {
  const listener = identify('203.0.113.9', agent);
  expect(JSON.stringify(listener)).not.toContain('203.0.113.9');
  expect(listener.addressVerdict).toBe('dc_ip');
  expect(identify('8.8.8.8', agent).country).toBe('US');
  expect(identify('10.0.0.1', agent)).toMatchObject({ country: 'unknown', region: 'unknown' });
});

test.each([
  [{ 'sec-purpose': 'prefetch;prerender' }, true, true],
  [{ purpose: 'preview' }, true, true],
  [{ 'x-moz': 'prefetch' }, true, true],
  [{ 'user-agent': 'Podcasts/4025 CFNetwork/1410 Darwin/22 Scout/1' }, false, true],
  [{ 'user-agent': 'Boyscout/1' }, false, false],
])('%p announces a prefetch: %p, decides nothing: %p', (headers, prefetch, isDryRun) => {
  expect(identify('198.51.100.7', { ...agent, ...headers })).toMatchObject({ prefetch, isDryRun });
});

test('the referrer decides about preloads and is not kept', () => {
  const preloading = identify('198.51.100.7', { ...agent, referer: 'https://preloads.example/' });
  expect(preloading).toMatchObject({ preload: true, internal: false });
  expect(preloading.key).toBe(identify('198.51.100.7', agent).key);
  expect(JSON.stringify(preloading)).not.toContain('preloads');
  expect(identify('198.51.100.7', { ...agent, referer: 'https://other.example/' }).preload).toBe(false);
});

test('a page that the list of referrers knows names its player, and nothing else of the address of the page is kept', () => {
  const playing = identify('198.51.100.7', { ...agent, referer: 'https://player.example/of/anna?token=abc' });
  expect(playing.webPlayer).toBe('Example Player');
  expect(playing.key).toBe(identify('198.51.100.7', agent).key);
  expect(JSON.stringify(playing)).not.toMatch(/player\.example|anna|abc/);
  expect(identify('198.51.100.7', { ...agent, referer: 'https://other.example/' }).webPlayer).toBeUndefined();
});

test.each([
  ['192.0.2.15', 'Overcast/3.0', true],
  ['192.0.2.16', 'Overcast/3.0', false],
  ['198.51.100.7', 'Longwave/1.0 (podcast hosting)', true],
  ['198.51.100.7', 'LongwaveFan/1.0', false],
])('%s with %p is one of us: %p', (address, userAgent, internal) => {
  expect(identify(address, { 'user-agent': userAgent }).internal).toBe(internal);
});

test('without a user agent there is a key but no digest', () => {
  expect(identify('198.51.100.7', {})).toMatchObject({ userAgent: '', userAgentDigest: null });
});

test('a remembered client is identified like a new one, in any order and across hours and months', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          peer: fc.constantFrom('198.51.100.7', '203.0.113.9', '192.0.2.15', '2001:db8:1:2::4'),
          agent: fc.constantFrom('Overcast/3.0', 'Podcasts/1 Scout/1', ''),
          prefetch: fc.boolean(),
          afterMs: fc.nat(3 * 86_400_000),
        }),
        { maxLength: 30 },
      ),
      (requests) => {
        let now = new Date('2026-11-29T12:00:00Z');
        const remembering = identifier(() => now);
        for (const { peer, agent: userAgent, prefetch, afterMs } of requests) {
          now = new Date(now.getTime() + afterMs);
          const headers = { 'user-agent': userAgent, ...(prefetch && { purpose: 'prefetch' }) };
          expect(remembering(peer, headers)).toEqual(identify(peer, headers, now));
        }
      },
    ),
  );
});
