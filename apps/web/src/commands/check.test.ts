import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import fc from 'fast-check';
import { formsOf, formTypes } from '../../tools/derive-forms.mjs';
import { check } from './check.ts';
import type { CommandForm, Schema } from './type-forms.ts';

const contract: unknown = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../../../../contracts/commands.json'), 'utf8'),
);
const forms = formTypes.flatMap((type) => formsOf(contract, type).commands as readonly CommandForm[]);

/** References have 26 characters that nobody would hit by chance. */
const reference = (pattern: string) => {
  const prefix = /^\^([a-z]+)_\[/.exec(pattern)?.[1];
  return prefix === undefined ? undefined : fc.constant(`${prefix}_${'0'.repeat(26)}`);
};
const wrongTexts = ['', 'x', 'EUR', 'x'.repeat(300), '2026-02-30T00:00:00Z', '1000000', 'https://a.example/'];

function textOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum, 'none of them');
  if (schema.format === 'date-time')
    return fc.oneof(
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((at) => at.toISOString()),
      fc.constantFrom('soon', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00+01:00'),
    );
  const known = schema.pattern === undefined ? undefined : reference(schema.pattern);
  const texts = fc.constantFrom(...wrongTexts);
  return known ? fc.oneof({ weight: 9, arbitrary: known }, texts) : texts;
}

const numberOf = ({ minimum = -5, maximum = 1e6 }: Schema) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: Math.ceil(minimum), max: Math.min(Math.floor(maximum), 1e12) }) },
    fc.constantFrom(minimum - 1, maximum + 1, minimum + 0.5),
  );

/** Values that fit a schema, and some that do not. */
function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return fc.oneof(...choices.map(valueOf));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.type === 'string') return textOf(schema);
  if (schema.type === 'integer' || schema.type === 'number') return numberOf(schema);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array') return fc.array(valueOf(schema.items ?? {}), { maxLength: 3 });
  const { properties = {}, required = [] } = schema;
  const parts = Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, valueOf(of)]));
  return fc
    .record(parts, { requiredKeys: [...required] })
    .chain((value) =>
      fc.constantFrom(value, ...(required[0] === undefined ? [] : [{ ...value, [required[0]]: undefined }])),
    );
}

/** Its rules depend on the kind that the policy has: zod leaves them to the code of the command, and its JSON Schema lists them. */
const byCode = ['policy.revise'];

describe('what is checked before a command is sent', () => {
  test.each(forms.map((form) => [form.type, form] as const))(
    'accepts of %s what the catalog accepts, and refuses nothing else',
    (type, { schema }) => {
      const { changes } = productCatalog.commands[type as keyof typeof productCatalog.commands];
      fc.assert(
        fc.property(valueOf(schema), (value) => {
          const found = changes.safeParse(value);
          const faults = check(schema, value);
          if (found.success && !byCode.includes(type)) expect([type, faults]).toEqual([type, []]);
        }),
        { numRuns: 25 },
      );
    },
  );

  test('names the field, what is wrong with it, and the bound', () => {
    const { schema } = forms.find(({ type }) => type === 'line_item.create')!;
    const goal = { unit: 'impressions', quantity: 0 };
    const faults = check(schema, { name: '', goal, priority: 11, extra: 1 });
    expect(faults).toEqual(
      expect.arrayContaining([
        { path: '/campaign_id', code: 'required', limit: undefined },
        { path: '/name', code: 'required', limit: undefined },
        { path: '/goal/quantity', code: 'too_small', limit: 1 },
        { path: '/priority', code: 'too_large', limit: 10 },
        { path: '/extra', code: 'unknown', limit: undefined },
      ]),
    );
  });

  test('of a value with several forms says what is wrong with the one that was meant', () => {
    const { schema } = forms.find(({ type }) => type === 'serving.halt')!;
    expect(check(schema, { scope: { kind: 'creative' }, cause: 'Wrong' })).toEqual([
      { path: '/scope/creative_id', code: 'required', limit: undefined },
    ]);
  });
});
