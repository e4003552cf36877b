import { expect, test } from '@jest/globals';
import { createNetworkLists, parseAddressRanges, parseSafeEntries } from './network-lists.ts';

const dataCentres = parseAddressRanges(
  '# a comment\n192.0.2.0,192.0.2.255,Example,https://example.org/\n2001:db8::/32\n',
);

test('the first list that holds an address decides, in the order of rule 12', () => {
  const lists = createNetworkLists(
    { dataCentres, vpn: parseAddressRanges('192.0.2.7\n198.51.100.7'), deny: parseAddressRanges('203.0.113.0/24') },
    () => 0,
  );
  const verdicts = ['192.0.2.7', '198.51.100.7', '203.0.113.200', '2001:db8::7', '8.8.8.8'].map(lists.verdict);
  expect(verdicts).toEqual(['dc_ip', 'vpn_ip', 'deny_ip', 'dc_ip', 'ok']);
});

test('a safe entry holds for 90 days after its validation and not a millisecond longer', () => {
  const safe = parseSafeEntries('192.0.2.64/26,2026-08-04,dormitory');
  const at = (time: string) => {
    const lists = createNetworkLists({ dataCentres, safe }, () => Date.parse(time));
    return [lists.verdict('192.0.2.70'), lists.isSafe('192.0.2.70'), lists.isSafe('192.0.2.7')];
  };
  expect(at('2026-11-01T23:59:59.999Z')).toEqual(['ok', true, false]);
  expect(at('2026-11-02T00:00:00.000Z')).toEqual(['dc_ip', false, false]);
  expect(() => parseSafeEntries('192.0.2.0/26')).toThrow(RangeError);
});
