import { expect, test } from '@jest/globals';
import { growthOf, linear } from '@longwave/test-kit/growth-of';
import { createUserAgentRules, describeUserAgent, classifyUserAgent } from '../src/index.ts';
import { lists } from './_facts.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0';

test.each([
  ['Overcast/3.0 (+http://overcast.fm/; iOS podcast app)', 'Overcast', 'Apple iPhone', 'mobile', 'iOS'],
  [
    'AppleCoreMedia/1.0.0.21L227 (Apple TV; U; CPU OS 17_2 like Mac OS X)',
    ...['AppleCoreMedia', 'Apple TV', 'smart_tv', 'tvOS'],
  ],
  [firefox, 'Firefox', 'Other Computer', 'computer', 'Linux'],
  ['HarbourListener 4', 'unknown', 'unknown', 'unknown', 'unknown'],
  [
    'Podcasts/1410.53 CFNetwork/1111 Darwin/19.0.0 (x86_64)',
    ...['Apple Podcasts', 'Apple Computer', 'computer', 'macOS'],
  ],
  [
    'Podcasts/1650.20 CFNetwork/1410.0.3 Darwin/22.6.0 model/iPhone14,5',
    ...['Apple Podcasts', 'Apple iPhone', 'mobile', 'iOS'],
  ],
  ['Mozilla/5.0 (Linux; U; en-us; BeyondPod 4)', 'BeyondPod', 'Android Phone', 'mobile', 'Android'],
  [
    'Mozilla/5.0 (Linux; U; Windows NT 6.1; en-us; dream) DoggCatcher',
    ...['DoggCatcher', 'Android Phone', 'mobile', 'Android'],
  ],
])('%s is named as the lists name it', (userAgent, app, device, platform, operatingSystem) => {
  expect(describeUserAgent(lists.userAgents, userAgent)).toMatchObject({ app, device, platform, operatingSystem });
});

test.each([
  ['AppleCoreMedia/1.0.0.20K71 (iPad; U; CPU OS 16_1 like Mac OS X; en_au)', 'iOS'],
  ['AppleCoreMedia/1.0.0.19H15 (Macintosh; U; Intel Mac OS X 10_15_7; en_us)', 'macOS'],
  ['Overcast (+http://overcast.fm/; Apple Watch podcast app)', 'watchOS'],
  ['AirPodcasts/4022.700.8 CFNetwork/1410.0.3 Darwin/22.6.0', 'HomePod'],
  ['PodcastAddict/v2 - Dalvik/2.1.0 (Linux; U; Android 9; SM-N950U Build/PPR1.180610.011)', 'Android'],
  [
    'Mozilla/5.0 (Mobile; LYF/F271i/LYF_F271i-000-01; Android; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5 PodLP/1.3',
    'KaiOS',
  ],
  ['Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0 Safari/537.36', 'webOS'],
  ['Mozilla/5.0 (SMART-TV; LINUX; Tizen 4.0) AppleWebKit/537.36 (KHTML, like Gecko) TV Safari/537.36', 'Tizen'],
  ['Roku/DVP-9.10 (499.10E04121A)', 'Roku OS'],
  ['Echo/1.0(APNG)', 'Fire OS'],
  [
    'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0 Safari/537.36',
    'ChromeOS',
  ],
  ['gPodder/3.10.8 (+http://gpodder.org/) Windows/10', 'Windows'],
  ['Zune/4.8', 'Windows Phone'],
  ['Mozilla/5.0 (X11; OpenBSD i386) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/36.0 Safari/537.36', 'BSD'],
])('%s runs on %s', (userAgent, operatingSystem) => {
  expect(describeUserAgent(lists.userAgents, userAgent)).toMatchObject({ operatingSystem });
});

test.each([
  ['Ruby', 'bot_ua'],
  ['Ruby/2.7', 'bot_ua'],
  ['okhttp/4.12.0', 'bot_ua'],
  ['axios/0.26.1', 'bot_ua'],
  ['aria2/1.36.0', 'bot_ua'],
  ['AppleCoreMedia/1.0.0.16G114 (iPod touch; U; CPU OS 12_4_2 like Mac OS X; en_us)', 'ok'],
  ['Rubycon Player/1.0', 'ok'],
])('a library without the name of an app: %s is judged %s', (userAgent, verdict) => {
  expect(classifyUserAgent(lists.userAgents, userAgent)).toBe(verdict);
});

test.each([
  ['https://player.captivate.fm/episode/1', 'Captivate Web Player'],
  ['https://podcasts.apple.com/', 'Apple Podcasts'],
  ['https://open.spotify.com/', 'Spotify'],
  ['https://harbour.example/', undefined],
  ['about:client', undefined],
  [undefined, undefined],
])('the page %s is of the player %s', (referrer, player) => {
  expect(lists.findWebPlayer(referrer)).toBe(player);
});

test('a percent-encoded user agent is named like the decoded one', () => {
  expect(describeUserAgent(lists.userAgents, encodeURIComponent(firefox))).toEqual(
    describeUserAgent(lists.userAgents, firefox),
  );
});

test.each(['a', 'Linux; ', 'Windows ', 'Android ', 'Linux AppleWebKit ', '%41'])(
  'a user agent that repeats %j takes time in proportion to its length',
  (piece) => {
    const classifying = (size: number) => {
      const userAgent = piece.repeat(Math.floor(size / piece.length));
      return () => void classifyUserAgent(lists.userAgents, userAgent);
    };
    expect(growthOf(classifying, 15_000)).toBeLessThan(linear);
  },
);

test('a pattern with a leading .* or .+ still matches as written', () => {
  const none = { entries: [] };
  const entries = [
    { name: 'any', pattern: '.*Any$' },
    { name: 'some', pattern: '.+[Ss]ome|^other' },
    { name: 'lazy', pattern: '.+?Lazy' },
  ];
  const rules = createUserAgentRules({
    ...{ bots: none, libraries: none, browsers: none, devices: none, local: none, operatingSystems: none },
    corrections: { notBots: none, libraries: none, devices: none },
    apps: { entries },
  });
  const names = ['Any', 'an Any', 'Anything', 'Some', 'a Some', 'other', 'another', 'Lazy', 'aLazy'].map(
    (userAgent) => rules.match(userAgent).name,
  );
  expect(names).toEqual(['any', 'any', 'unknown', 'unknown', 'some', 'some', 'unknown', 'unknown', 'lazy']);
});

test('a text has the same match each time, however many others were asked for between', () => {
  const agents = Array.from({ length: 2_500 }, (_, nth) => `Overcast/${nth}.0 (+http://overcast.fm/; iOS podcast app)`);
  const first = agents.map((agent) => lists.userAgents.match(agent));
  expect(agents.map((agent) => lists.userAgents.match(agent))).toEqual(first);
  expect(new Set(first.map(({ name }) => name))).toEqual(new Set(['Overcast']));
});
