import { describe, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import fc from 'fast-check';
import { z } from 'zod';
import { UsageError } from '../src/command.ts';
import type { JsonSchema } from '../src/manage/catalog.ts';
import { fieldsIn, readRunLine } from '../src/manage/changes-from-flags.ts';
import { columns } from '../src/manage/table.ts';

const schemaOf = (type: keyof typeof productCatalog.commands): JsonSchema =>
  z.toJSONSchema(productCatalog.commands[type].changes, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

const noFile = (name: string): string => {
  throw new Error(`no file ${name}`);
};
const changesOf = (type: keyof typeof productCatalog.commands, ...args: string[]) =>
  readRunLine(args, schemaOf(type), noFile).changes;

describe('the options of manage run', () => {
  test('set texts, numbers, lists and the fields of objects, by the schema of the command', () => {
    expect(
      changesOf(
        'line_item.create',
        ...['--name', '10', '--priority', '3', '--window.start', '2026-12-01T00:00:00Z'],
        ...['--window.end=2026-12-31T00:00:00Z', '--goal.unit', 'impressions', '--goal.quantity', '1000'],
        ...['--rate', '{"model": "cpm"}', '--rate.price.amount_micros', '18000000', '--rate.price.currency', 'EUR'],
        ...['--break_positions', 'pre', '--break_positions', 'mid'],
      ),
    ).toEqual({
      name: '10',
      priority: 3,
      window: { start: '2026-12-01T00:00:00Z', end: '2026-12-31T00:00:00Z' },
      goal: { unit: 'impressions', quantity: 1000 },
      rate: { model: 'cpm', price: { amount_micros: '18000000', currency: 'EUR' } },
      break_positions: ['pre', 'mid'],
    });
  });

  test('a list may be one JSON array, and its elements may be objects', () => {
    const brand = { id: 'tea', name: 'Tea', domain: 'tea.example' };
    const expected = { legal_name: 'Tea Ltd', brands: [brand], ad_product_categories: [] };
    const rest = ['--legal_name', 'Tea Ltd', '--ad_product_categories', '[]'];
    expect(changesOf('advertiser.create', '--brands', JSON.stringify([brand]), ...rest)).toEqual(expected);
    expect(changesOf('advertiser.create', '--brands', JSON.stringify(brand), ...rest)).toEqual(expected);
  });

  test('add to the object that --json reads, and win over it', () => {
    const { changes, words, options } = readRunLine(
      ['cmp_1', '--json', 'changes.json', '--name', 'Winter', '--wait', '--reason', 'later'],
      schemaOf('campaign.revise'),
      () => '{"name": "Autumn", "io_number": "7"}',
    );
    expect(changes).toEqual({ name: 'Winter', io_number: '7' });
    expect([words, options.wait, options.reason]).toEqual([['cmp_1'], true, 'later']);
  });

  test.each([
    ['an unknown field', ['--colour', 'red'], /'--colour'/],
    ['a field twice', ['--name', 'a', '--name', 'b'], /--name is given twice/],
    ['a number that is none', ['--priority', 'high'], /--priority: “high” is not JSON/],
    ['a list for --json', ['--json', 'list.json'], /write an object/],
  ])('%s is refused with a sentence that names it', (_what, args, message) => {
    expect(() => readRunLine(args, schemaOf('line_item.create'), () => '[]')).toThrow(UsageError);
    expect(() => readRunLine(args, schemaOf('line_item.create'), () => '[]')).toThrow(message);
  });

  test('say the same as JSON for every object that a command may take', () => {
    const schema = schemaOf('campaign.create');
    const names = fieldsIn(schema).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['name', 'window', 'window.start', 'budget.amount_micros']));
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), fc.string(), (name, io, start) => {
        const json = { name, io_number: io, window: { start } };
        const typed = [`--name=${name}`, `--io_number=${io}`, `--window.start=${start}`];
        expect(changesOf('campaign.create', ...typed)).toEqual(json);
        expect(readRunLine(['--json', 'f'], schema, () => JSON.stringify(json)).changes).toEqual(json);
      }),
    );
  });

  test('exist for every field of every command that people may send', () => {
    for (const [type, { roles }] of Object.entries(productCatalog.commands)) {
      if (roles.length === 0) continue;
      const schema = schemaOf(type as keyof typeof productCatalog.commands);
      const names = fieldsIn(schema).map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(() => readRunLine([], schema, noFile)).not.toThrow();
    }
  });
});

test('a table aligns its columns and ends no line in spaces', () => {
  expect(
    columns([
      ['a', 'bcd', ''],
      ['abc', 'b', 'x'],
    ]),
  ).toBe('a    bcd\nabc  b    x');
  expect(columns([])).toBe('');
});
