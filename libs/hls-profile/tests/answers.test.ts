import { expect, test } from '@jest/globals';
import { askingOrigin, type ReadResource, type ResourceAnswer } from '../src/index.ts';
import { edit, golden, judge, readerOf } from './_golden.ts';

const files = golden('audio');

/** What is found when each answer has these headers. */
const judgeHeaders = (alter: (headers: Record<string, string>, path: string) => void) =>
  judge(readerOf(files, alter), 'general', 'sample');

test.each([
  { name: 'no origin', origin: undefined, rules: ['A14'] },
  { name: 'a wildcard inside a name, which browsers do not know', origin: 'https://*.apple.com', rules: ['A14'] },
  { name: 'the origin that asked, without Vary', origin: askingOrigin, rules: ['A14'] },
  { name: 'the origin that asked, with Vary', origin: askingOrigin, vary: 'Accept-Encoding, Origin', rules: [] },
  { name: 'every origin, with credentials', origin: '*', credentials: 'true', rules: ['A14'] },
])('CORS: $name is judged', async ({ origin, vary, credentials, rules }) => {
  const found = await judgeHeaders((headers) => {
    delete headers['access-control-allow-origin'];
    if (origin !== undefined) headers['access-control-allow-origin'] = origin;
    if (vary !== undefined) headers['vary'] = vary;
    if (credentials !== undefined) headers['access-control-allow-credentials'] = credentials;
  });
  expect(found.rules).toEqual(rules);
});

test('one wrong header of all answers is one finding for each kind of resource, not one for each answer', async () => {
  const { found } = await judgeHeaders((headers) => (headers['content-type'] = 'text/plain'));
  expect(
    found.filter(({ where }) => !where.startsWith('break “pre”, ad')).map(({ rule, where }) => [rule, where]),
  ).toEqual([
    ['media-type', 'multivariant playlist, and 1 more'],
    ['media-type', 'audio/media.m3u8, and 3 more'],
    ['media-type', 'chapters'],
    ['media-type', 'break “pre”, and 2 more'],
  ]);
});

test('without headers, as of files that no server has sent, no rule on headers finds anything', async () => {
  const read: ReadResource = async (request) => {
    const { url, status, body } = await readerOf(files)(request);
    return { url, status, body };
  };
  expect((await judge(read, 'general')).found).toEqual([]);
});

test('an asset list that decides anew at each request is found', async () => {
  let asked = 0;
  const read: ReadResource = async (request) => {
    const answer = await readerOf(files)(request);
    const isList = request.kind === 'asset list' && request.url.includes('pre');
    return isList && (asked += 1) === 2 ? { ...answer, body: Buffer.from('{"ASSETS":[]}') } : answer;
  };
  expect(await judge(read, 'general')).toMatchObject({
    found: [{ rule: 'asset-list', level: 'failure', where: 'break “pre”' }],
  });
  expect(asked).toBe(2);
});

test('a byte range that is answered with the whole file, with an error or with other bytes is found, and nothing is concluded from it', async () => {
  const ranged = (change: (answer: ResourceAnswer) => Partial<ResourceAnswer>): ReadResource => {
    return async (request) => {
      const answer = await readerOf(files)(request);
      return request.range ? { ...answer, ...change(answer) } : answer;
    };
  };
  for (const [change, says] of [
    [() => ({ status: 200 }), /whole file/],
    [() => ({ status: 416 }), /answers 416/],
    [
      ({ headers }: ResourceAnswer) => ({ headers: { ...headers, 'content-range': 'bytes 7-9/10' } }),
      /from 7 in place of/,
    ],
    [({ body }: ResourceAnswer) => ({ body: body.subarray(1) }), /bytes in place of/],
  ] as const) {
    const { found, rules } = await judge(ranged(change), 'general');
    expect([rules, found.every(({ message }) => says.test(message))]).toEqual([['reachable'], true]);
  }
});

test('a reader that fails is a finding with its sentence, wherever it fails', async () => {
  const failing = (part: string): ReadResource => {
    return async (request) => {
      if (request.url.includes(part)) throw new Error('The host does not answer.');
      return readerOf(files)(request);
    };
  };
  for (const [part, where] of [
    ['/main.m3u8', 'multivariant playlist'],
    ['/al/post', 'break “post”'],
    ['/chapters', 'chapters'],
  ] as const)
    expect((await judge(failing(part), 'general')).found).toContainEqual({
      ...{ rule: 'reachable', level: 'failure', where: expect.stringMatching(new RegExp(`${where}$`)) },
      message: 'The host does not answer.',
    });
});

test('the address of a media playlist is answered by what to give instead', async () => {
  const read = readerOf(new Map([['main.m3u8', files.get('audio/media.m3u8')!]]));
  expect((await judge(read, 'apple')).found).toMatchObject([
    { rule: 'syntax', where: 'multivariant playlist', message: expect.stringContaining('This is a media playlist.') },
  ]);
});

test('segments of other formats are said not to be judged', async () => {
  const other = new Map(files);
  edit(other, /^audio/, (text) => text.replace(/#EXT-X-MAP.*\n/, ''));
  expect(await judge(readerOf(other), 'general', 'sample')).toEqual({
    found: [],
    rules: [],
    notes: ['The segments of audio/media.m3u8 are no fMP4 (EXT-X-MAP is absent), so nothing inside them was judged.'],
  });
});

test('a profile in general asks for no video, and calls a warning what Apple Podcasts alone demands', async () => {
  const other = new Map(files);
  edit(other, /media\.m3u8$/, (text) => text.replace('VERSION:7', 'VERSION:6'));
  const levels = async (profile: 'apple' | 'general') =>
    (await judge(readerOf(other), profile)).found.filter(({ rule }) => rule === 'A1').map(({ level }) => level);
  expect(await levels('general')).toEqual(['warning', 'warning']);
  expect(await levels('apple')).toEqual(['failure', 'failure']);
});

test('one ad in several breaks is read once', async () => {
  const asked: string[] = [];
  await judge(async (request) => {
    asked.push(request.url);
    return readerOf(files)(request);
  }, 'general');
  expect(asked.filter((url) => url.endsWith('/ad/main.m3u8'))).toHaveLength(1);
});
