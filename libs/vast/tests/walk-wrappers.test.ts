import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  beginWalk,
  maxWrappers,
  parseVast,
  walkWrappers,
  type Unanswered,
  type VastDocument,
  type WrapperWalk,
} from '../src/index.ts';

const start = 'https://demand.example/tag';
const parse = (text: string) => parseVast(Buffer.from(text));
const pod = parseVast(readFileSync(path.join(import.meta.dirname, 'documents/vast-3.0-pod.xml')));

interface Wrapper {
  readonly to: string;
  readonly name?: string;
  readonly rules?: string;
}
const wrapper = ({ to, name = 'w', rules = 'allowMultipleAds="true"' }: Wrapper) =>
  parse(
    `<VAST version="4.2"><Ad><Wrapper ${rules}><Error>https://${name}.example/error</Error><Impression>https://${name}.example/impression</Impression><VASTAdTagURI><![CDATA[${to}]]></VASTAdTagURI></Wrapper></Ad></VAST>`,
  );

/** Walks through documents as they come; the last step. */
function follow(documents: readonly (VastDocument | Unanswered)[], limit?: number) {
  let walk: WrapperWalk = beginWalk(start, limit);
  const urls: string[] = [];
  for (const document of documents) {
    const step = walkWrappers(walk, document);
    if (step.kind !== 'fetch') return { urls, step };
    urls.push(step.url);
    walk = step.walk;
  }
  throw new Error('The walk wants more documents.');
}
const chain = (count: number, rules?: string) =>
  Array.from({ length: count }, (_, n) =>
    wrapper({ to: `https://w${n + 1}.example/tag`, name: `w${n}`, ...(rules === undefined ? {} : { rules }) }),
  );

test('three wrappers are followed; every ad has the trackers of all of them, the outermost first', () => {
  const { urls, step } = follow([...chain(3), pod]);
  expect(urls).toEqual(['https://w1.example/tag', 'https://w2.example/tag', 'https://w3.example/tag']);
  if (step.kind !== 'done') throw new Error(step.kind);
  expect(step.ads.map(({ id }) => id)).toEqual(['first', 'second']);
  expect(step.ads[0]!.trackers).toEqual([
    ...['w0', 'w1', 'w2'].flatMap((name) => [
      { event: 'impression', url: `https://${name}.example/impression` },
      { event: 'error', url: `https://${name}.example/error` },
    ]),
    { event: 'impression', url: 'https://ads.example/impression/1' },
  ]);
  expect(step.refusedAds).toMatchObject([
    {
      id: 'broken',
      errorUrls: [
        ...['w0', 'w1', 'w2'].map((name) => `https://${name}.example/error`),
        'https://ads.example/error/3?code=[ERRORCODE]',
      ],
    },
  ]);
});

const unanswered = { kind: 'unanswered' } as const;
const empty = parse('<VAST version="4.2"><Error>https://last.example/error</Error></VAST>');

test.each<[string, readonly (VastDocument | typeof unanswered)[], number, readonly string[]]>([
  ['a fourth wrapper', chain(4), 302, ['w0', 'w1', 'w2', 'w3']],
  ['a wrapper that leads to itself', [wrapper({ to: start })], 302, ['w']],
  ['a loop of two', [...chain(1), wrapper({ to: start })], 302, ['w0', 'w']],
  ['a wrapper that the one before forbids', chain(2, 'followAdditionalWrappers="false"'), 302, ['w0', 'w1']],
  ['a chain without an ad', [...chain(2), empty], 303, ['w0', 'w1', 'last']],
  ['an address that does not answer', [...chain(1), unanswered], 301, ['w0']],
  ['the first address, when it does not answer', [unanswered], 301, []],
  ['a chain that ends in no XML', [...chain(1), parse('none')], 100, ['w0']],
])('%s is refused, and all on the way are told', (_, documents, code, told) => {
  expect(follow(documents).step).toMatchObject({
    ...{ kind: 'refused', code },
    errorUrls: told.map((name) => `https://${name}.example/error`),
  });
});

test.each([
  [0, 'The chain has more than 0 wrappers.'],
  [1, 'The chain has more than 1 wrapper.'],
  [2, 'The chain has more than 2 wrappers.'],
  [7, 'The chain has more than 3 wrappers.'],
])('a walk of at most %s wrappers follows no further one, and never more than three', (limit, reason) => {
  expect(follow(chain(4), limit).step).toMatchObject({ kind: 'refused', code: 302, reason });
  const followed = Math.min(limit, maxWrappers);
  expect(follow([...chain(followed), pod], limit).urls).toHaveLength(followed);
});

test('the refusal of an address without a document says what the address answered', () => {
  const reason = 'The address of the document answers with status 500.';
  expect(follow([{ kind: 'unanswered', reason }]).step).toMatchObject({ code: 301, reason });
});

test('a source without an ad is no error', () => {
  expect(follow([empty]).step).toEqual({ kind: 'empty', errorUrls: ['https://last.example/error'] });
});

test('a wrapper that allows one ad gets the first that stands alone, or the first of a pod', () => {
  const one = (document: VastDocument) => {
    const { step } = follow([...chain(1, ''), document]);
    return step.kind === 'done' ? step.ads.map(({ id }) => id) : step.kind;
  };
  if (pod.kind !== 'inline') throw new Error(pod.kind);
  expect(one(pod)).toEqual(['first']);
  const alone = { ...pod.ads[0]!, id: 'alone', sequence: undefined };
  expect(one({ ...pod, ads: [...pod.ads, alone] })).toEqual(['alone']);
});

test('whatever documents come, a walk fetches at most three more and no address twice', () => {
  const some = fc.oneof(
    fc.constantFrom<VastDocument>(pod, empty),
    fc
      .record({ n: fc.nat(5), rules: fc.constantFrom('', 'followAdditionalWrappers="false"') })
      .map(({ n, rules }) => wrapper({ to: n === 0 ? start : `https://w${n}.example/tag`, rules })),
  );
  fc.assert(
    fc.property(fc.array(some, { minLength: maxWrappers + 1, maxLength: maxWrappers + 1 }), (documents) => {
      const { urls } = follow(documents);
      expect(urls.length).toBeLessThanOrEqual(maxWrappers);
      expect(new Set([start, ...urls]).size).toBe(urls.length + 1);
    }),
  );
});
