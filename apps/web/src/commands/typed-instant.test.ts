import { expect, test } from '@jest/globals';
import { check } from './check.ts';
import { cleaned } from './form-value.ts';
import type { Schema } from './type-forms.ts';
import { heldInstant, typedInstant } from './typed-instant.ts';

const zone = 'Europe/Berlin';
const schema: Schema = { type: 'object', properties: { effective_from: { type: 'string', format: 'date-time' } } };

test.each([
  ['half a time', '2026-12-01', ''],
  ['a time without its day', '', '12:00'],
  ['a time that clocks jump over', '2026-03-29', '02:30'],
])('%s is refused, and never left out', (_name, day, time) => {
  const changes = cleaned(schema, { effective_from: heldInstant({ day, time }, zone) });
  expect(check(schema, changes)).toEqual([{ path: '/effective_from', code: 'format', limit: undefined }]);
});

test('nothing typed is nothing', () => {
  expect(heldInstant({ day: '', time: '' }, zone)).toBeUndefined();
});

test.each([
  ['2026-12-01', '12:00'],
  ['2026-10-25', '02:30'],
  ['2026-12-01', ''],
  ['2026-03-29', '02:30'],
  ['', ''],
])('%j %j is shown again as it was typed', (day, time) => {
  expect(typedInstant(heldInstant({ day, time }, zone), zone)).toEqual({ day, time });
});
