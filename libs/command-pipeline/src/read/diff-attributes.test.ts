import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diffAttributes, type PatchStep } from './diff-attributes.ts';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Applies a JSON Patch by the words of RFC 6902 §4, step by step, to a copy. Throws where a step names what is not there. */
function apply(document: Json, patch: readonly PatchStep[]): Json {
  const root: { root: Json } = { root: structuredClone(document) };
  for (const step of patch) {
    const names = ['root', ...step.path.split('/').slice(1)].map((name) =>
      name.replaceAll('~1', '/').replaceAll('~0', '~'),
    );
    const last = names.pop()!;
    let target: Json = root;
    for (const name of names) {
      if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) throw new Error(step.path);
      target = (target as Record<string, Json>)[name]!;
    }
    if (Array.isArray(target)) {
      const index = Number(last);
      if (!/^(0|[1-9]\d*)$/.test(last) || index > target.length - (step.op === 'add' ? 0 : 1))
        throw new Error(step.path);
      if (step.op === 'add') target.splice(index, 0, structuredClone(step.value) as Json);
      else if (step.op === 'remove') target.splice(index, 1);
      else target[index] = structuredClone(step.value) as Json;
      continue;
    }
    if (typeof target !== 'object' || target === null) throw new Error(step.path);
    if (step.op !== 'add' && !Object.hasOwn(target, last)) throw new Error(step.path);
    if (step.op === 'remove') delete target[last];
    else
      Object.defineProperty(target, last, {
        value: structuredClone(step.value),
        ...{ enumerable: true, writable: true, configurable: true },
      });
  }
  return root.root;
}

const value = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1, 'a', 'b', '~/', ''),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'a/b', 'm~n', '', '0', '__proto__', 'constructor'), tie('json'), {
      noNullPrototype: true,
    }),
  ),
})).json;
const attributes = fc.dictionary(fc.constantFrom('title', 'a/b', '~1', 'list', '__proto__'), value, {
  noNullPrototype: true,
});

test('the difference applied to the version before gives the version after, whatever both are', () => {
  fc.assert(
    fc.property(attributes, attributes, (before, after) => {
      expect(JSON.stringify(sorted(apply(before, diffAttributes(before, after))))).toBe(JSON.stringify(sorted(after)));
    }),
    { numRuns: 2_000 },
  );
});

test('equal versions have no difference', () => {
  fc.assert(fc.property(attributes, (one) => expect(diffAttributes(one, structuredClone(one))).toEqual([])));
});

test.each<[string, Record<string, unknown>, Record<string, unknown>, PatchStep[]]>([
  ['a field', { title: 'One' }, { title: 'Two' }, [{ op: 'replace', path: '/title', value: 'Two' }]],
  ['a new field', {}, { title: 'One' }, [{ op: 'add', path: '/title', value: 'One' }]],
  ['a field that is gone', { title: 'One', note: undefined }, {}, [{ op: 'remove', path: '/title' }]],
  [
    'a field within a field',
    { window: { start: 1, end: 2 } },
    { window: { start: 1, end: 3 } },
    [{ op: 'replace', path: '/window/end', value: 3 }],
  ],
  [
    'a new first entry of a list',
    { list: ['b', 'c'] },
    { list: ['a', 'b', 'c'] },
    [{ op: 'add', path: '/list/0', value: 'a' }],
  ],
  [
    'entries that are gone from the middle',
    { list: [1, 2, 3, 4] },
    { list: [1, 4] },
    [
      { op: 'remove', path: '/list/1' },
      { op: 'remove', path: '/list/1' },
    ],
  ],
  ['another kind of value', { value: [1] }, { value: { 0: 1 } }, [{ op: 'replace', path: '/value', value: { 0: 1 } }]],
])('the difference of %s is what a person would say', (_what, before, after, patch) => {
  expect(diffAttributes(before, after)).toEqual(patch);
});

/** With the members of every object in one order. */
function sorted(json: Json): Json {
  if (Array.isArray(json)) return json.map(sorted);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .map(([name, member]): [string, Json] => [name, sorted(member)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
