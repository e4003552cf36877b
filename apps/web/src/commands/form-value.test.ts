import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { amountText, changesOf, cleaned, keptFull, microsOf, textsOf } from './form-value.ts';
import type { Schema } from './type-forms.ts';

const text: Schema = { type: 'string' };
const schema: Schema = {
  type: 'object',
  properties: {
    name: text,
    brands: { type: 'array', items: text },
    budget: { type: 'object', properties: { amount_micros: text, currency: text } },
    window: { type: 'object', properties: { start: text } },
  },
  required: ['brands', 'window'],
};

test('what was not filled in is not sent; lists and groups that are needed are', () => {
  expect(cleaned(schema, { name: '  Tea ', budget: { amount_micros: ' ' } })).toEqual({
    name: 'Tea',
    brands: [],
    window: {},
  });
});

test('a group in which nothing is filled in is not sent, whatever it needs', () => {
  const hours: Schema = { type: 'object', properties: { hours: { type: 'array', items: text } }, required: ['hours'] };
  const targeting: Schema = { type: 'object', properties: { dayparts: { anyOf: [hours, { type: 'null' }] } } };
  expect(cleaned({ type: 'object', properties: { targeting } }, {})).toEqual({});
});

test('of a value with several forms the fields of the one that was meant are sent', () => {
  const scope: Schema = {
    oneOf: [
      { type: 'object', properties: { kind: { type: 'string', const: 'workspace' } } },
      { type: 'object', properties: { kind: { type: 'string', const: 'creative' }, creative_id: text } },
    ],
  };
  expect(cleaned(scope, { kind: 'creative', creative_id: 'crv_1', podcast_id: 'pod_1' })).toEqual({
    kind: 'creative',
    creative_id: 'crv_1',
  });
});

test('of what a resource has, only what was changed is sent; a list that was emptied is', () => {
  const attributes = { name: 'Tea', brands: ['a'], window: { start: 'now' } };
  const draft = { name: 'Tea', brands: [], window: { start: 'now' } };
  expect(changesOf(schema, draft, attributes)).toEqual({ brands: [], window: { start: 'now' } });
});

test('what a command needs is sent as it is too, what it takes as null is emptied, and what cannot be emptied is named', () => {
  const amend: Schema = {
    type: 'object',
    properties: { name: text, click_url: text, note: { anyOf: [text, { type: 'null' }] }, cause: text },
    required: ['name'],
  };
  const attributes = { name: 'Tea', click_url: 'https://a.example/', note: 'x' };
  const draft = { name: 'Tea', click_url: ' ', note: '' };
  expect(changesOf(amend, draft, attributes)).toEqual({ name: 'Tea', note: null });
  expect(keptFull(amend, draft, attributes)).toEqual(['click_url']);
  expect(keptFull(amend, attributes, attributes)).toEqual([]);
});

test('what a resource has in another order, or with empty places, is no change', () => {
  const attributes = { budget: { currency: 'EUR', amount_micros: '1', note: null }, window: {}, brands: [] };
  expect(changesOf({ ...schema, required: [] }, attributes, attributes)).toEqual({});
});

test('every amount is the same after it was shown and typed again', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), (micros) => {
      expect(microsOf(amountText(String(micros)))).toBe(String(micros));
    }),
  );
  expect([microsOf('18'), microsOf('18,5'), microsOf('eighteen'), amountText('18000000')]).toEqual([
    '18000000',
    '18500000',
    undefined,
    '18.00',
  ]);
});

test('a list is typed with commas', () => {
  expect(textsOf(' DE, AT,,')).toEqual(['DE', 'AT']);
});
