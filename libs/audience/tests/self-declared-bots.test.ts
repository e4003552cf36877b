import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { classifyUserAgent } from '../src/index.ts';
import { lists } from './_facts.ts';

const { user_agents: crawlers } = JSON.parse(
  readFileSync(new URL('../cases/crawler-user-agents/named-like-browsers.json', import.meta.url), 'utf8'),
) as { user_agents: string[] };

const classify = (userAgent: string) => classifyUserAgent(lists.userAgents, userAgent);

test('each of 100 crawlers that declare themselves is a bot, although a list has it as a browser or an app', () => {
  expect(crawlers).toHaveLength(100);
  for (const crawler of crawlers)
    expect(lists.userAgents.match(crawler).kind).toEqual(expect.stringMatching(/^(browser|app)$/));
  expect(crawlers.filter((crawler) => classify(crawler) !== 'bot_ua')).toEqual([]);
});

const chrome = (device: string) =>
  `Mozilla/5.0 (Linux; Android 7.0; ${device}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/78.0.3904.96 Mobile Safari/537.36`;

test.each([
  ...['CUBOT J9', 'Cubot X50', 'cubot echo', 'CUBOT_NOTE_S Build/LMY47I', 'S222 Build/CUBOT', 'M bot 60', 'B BOT 550'],
  ...['IDbot553PLUS Build/MRA58K', 'ID bot 53+', 'VR BOT 552 PLUS', 'POWER BOT Build/MRA58K', 'C Bot Tab 100'],
  ...['M_bot_tab_1150 Build/N9F27F', 'XBot_Senior Build/O11019', 'Spider 8', 'HTC; htc_botdugls', '+DRM;BOTECH;ATV R1'],
])('%s is a device of people', (device) => {
  expect(classify(chrome(device))).toBe('ok');
});

test('a name of the exception list excuses itself alone', () => {
  expect(classify(chrome('CUBOT J9; FeedBot/1.0'))).toBe('bot_ua');
  expect(classify('Tweetbot/5 (crawler)')).toBe('bot_ua');
  expect(classify('Cubotron/1.0')).toBe('bot_ua');
});

test('a percent-encoded phone of the exception list counts, a percent-encoded crawler does not', () => {
  expect(classify(encodeURIComponent(chrome('M bot 60')))).toBe('ok');
  expect(classify(encodeURIComponent(crawlers[0]!))).toBe('bot_ua');
});
