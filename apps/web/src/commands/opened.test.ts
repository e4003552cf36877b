import { expect, test } from '@jest/globals';
import { changesOf } from './form-value.ts';
import { decidedOn, isTyped, keptForm, meanwhileOf, type Opened, type Seen } from './opened.ts';
import type { Schema } from './type-forms.ts';

const text: Schema = { type: 'string' };
const schema: Schema = { type: 'object', properties: { name: text, click_url: text, cause: text } };
const seen: Seen = { version: 3, lifecycle_state: 'draft', attributes: { name: 'Tea', click_url: 'a', weight: 1 } };
const start = { name: 'Tea', click_url: 'a' };
const opened: Opened = { seen, start, draft: { name: 'Green tea', click_url: 'a' } };
const later = (attributes: object, state = 'draft'): Seen => ({
  version: 4,
  lifecycle_state: state,
  attributes: { ...seen.attributes, ...attributes },
});
const sent = (form: Opened) => changesOf(schema, form.draft, form.seen?.attributes);

test('what somebody else changed meanwhile is shown beside what one typed', () => {
  expect(meanwhileOf(schema, opened, later({ name: 'Black tea', weight: 2 }, 'paused'))).toEqual({
    theirs: [
      { op: 'replace', path: '/lifecycle_state', value: 'paused' },
      { op: 'replace', path: '/attributes/name', value: 'Black tea' },
      { op: 'replace', path: '/attributes/weight', value: 2 },
    ],
    mine: [{ op: 'replace', path: '/attributes/name', value: 'Green tea' }],
    fields: ['name'],
    contested: ['name'],
  });
});

test('the version that was seen, an older one, and one with nothing new ask nothing', () => {
  for (const now of [seen, { ...later({ name: 'x' }), version: 2 }, later({})])
    expect(meanwhileOf(schema, opened, now)).toBeUndefined();
});

test('a field that only somebody else changed is never undone', () => {
  for (const whose of ['mine', 'theirs'] as const)
    expect(sent(decidedOn(schema, opened, later({ click_url: 'b' }), whose))).toEqual({ name: 'Green tea' });
});

test('of a field that both changed the chosen one stands, on the newer version', () => {
  const now = later({ name: 'Black tea' });
  expect(sent(decidedOn(schema, opened, now, 'mine'))).toEqual({ name: 'Green tea' });
  expect(sent(decidedOn(schema, opened, now, 'theirs'))).toEqual({});
  expect(decidedOn(schema, opened, now, 'mine').seen?.version).toBe(4);
  expect(isTyped(schema, decidedOn(schema, opened, now, 'theirs'))).toBe(false);
});

test('what the browser kept comes back with the version that it was typed on; anything else is no form', () => {
  expect(keptForm(JSON.parse(JSON.stringify(opened)), true)).toEqual(opened);
  expect(keptForm({ start, draft: start }, false)).toEqual({ seen: undefined, start, draft: start });
  for (const found of [undefined, null, 7, [], {}, { draft: start }, { draft: start, start }, { ...opened, seen: {} }])
    expect(keptForm(found, true)).toBeUndefined();
});

test('spaces alone are nothing typed', () => {
  expect(isTyped(schema, opened)).toBe(true);
  expect(isTyped(schema, { ...opened, draft: { name: ' Tea', click_url: 'a', cause: ' ' } })).toBe(false);
});
