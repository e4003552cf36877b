import { expect, test } from '@jest/globals';
import { createUserAgentRules, describeUserAgent, judgeUserAgent } from '../src/index.ts';
import { lists } from './_facts.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0';

test.each([
  ['Overcast/3.0 (+http://overcast.fm/; iOS podcast app)', 'Overcast', 'Apple iPhone', 'mobile'],
  ['AppleCoreMedia/1.0.0.21L227 (Apple TV; U; CPU OS 17_2 like Mac OS X)', 'AppleCoreMedia', 'Apple TV', 'smart_tv'],
  [firefox, 'Firefox', 'Other Computer', 'computer'],
  ['HarbourListener 4', 'unknown', 'unknown', 'unknown'],
])('%s is named as the lists name it', (userAgent, app, device, platform) => {
  expect(describeUserAgent(lists.userAgents, userAgent)).toEqual({ app, device, platform });
});

test('a user agent that was sent percent-encoded is named like the one it means', () => {
  expect(describeUserAgent(lists.userAgents, encodeURIComponent(firefox))).toEqual(
    describeUserAgent(lists.userAgents, firefox),
  );
});

test('no user agent holds up the process, however long it is and whatever it repeats', () => {
  for (const piece of ['a', 'Linux; ', 'Windows ', 'Android ', 'Linux AppleWebKit ', '%41']) {
    const userAgent = piece.repeat(Math.floor(15_000 / piece.length));
    judgeUserAgent(lists.userAgents, piece);
    const beganMs = performance.now();
    judgeUserAgent(lists.userAgents, userAgent);
    expect(performance.now() - beganMs).toBeLessThan(500);
  }
});

test('a pattern that begins with anything matches what it says', () => {
  const none = { entries: [] };
  const entries = [
    { name: 'any', pattern: '.*Any$' },
    { name: 'some', pattern: '.+[Ss]ome|^other' },
    { name: 'lazy', pattern: '.+?Lazy' },
  ];
  const rules = createUserAgentRules({
    ...{ bots: none, libraries: none, browsers: none, devices: none, local: none },
    apps: { entries },
  });
  const names = ['Any', 'an Any', 'Anything', 'Some', 'a Some', 'other', 'another', 'Lazy', 'aLazy'].map(
    (userAgent) => rules.match(userAgent).name,
  );
  expect(names).toEqual(['any', 'any', 'unknown', 'unknown', 'some', 'some', 'unknown', 'unknown', 'lazy']);
});
