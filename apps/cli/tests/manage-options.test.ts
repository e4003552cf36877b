import { describe, expect, test } from '@jest/globals';
import { describeCatalog, productCatalog } from '@longwave/command-catalog';
import fc from 'fast-check';
import { z } from 'zod';
import { UsageError } from '../src/command.ts';
import {
  commandOf,
  resourceTypeOf,
  subjectTypeOf,
  typeOf,
  type Catalog,
  type JsonSchema,
} from '../src/manage/catalog.ts';
import { readRunLine } from '../src/manage/changes-from-flags.ts';
import { fieldsIn } from '../src/manage/fields.ts';
import { commandHelp } from '../src/manage/command-help.ts';
import { explainRefusal } from '../src/manage/explain-refusal.ts';
import { Refusal } from '../src/manage/management-api.ts';
import { columns } from '../src/manage/table.ts';

const schemaOf = (type: keyof typeof productCatalog.commands): JsonSchema =>
  z.toJSONSchema(productCatalog.commands[type].changes, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

const catalog = JSON.parse(JSON.stringify(describeCatalog(productCatalog))) as Catalog;
const { commands: described } = catalog;
const helpOf = (type: string) => commandHelp(commandOf(catalog, type));

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

describe('a value of several forms', () => {
  test('has an option for each field of each form, and the help says which form has it', () => {
    expect(changesOf('authority_grant.propose', '--grantee.email', 'ben@example.com')).toEqual({
      grantee: { email: 'ben@example.com' },
    });
    const caps = '[{"max": 3, "per": "listener_bucket", "window_seconds": 86400}]';
    expect(
      changesOf('policy.create', ...['--kind', 'frequency', '--scope.kind', 'podcasts'], `--rules.caps=${caps}`),
    ).toEqual({ kind: 'frequency', scope: { kind: 'podcasts' }, rules: { caps: JSON.parse(caps) as unknown } });
    const help = helpOf('policy.create');
    expect(help).toMatch(/--scope\.kind workspace\|podcasts\|inventory_units +required\n/);
    expect(help).toMatch(/--scope\.podcast_ids \[pod_…, …\] +optional, for podcasts\n/);
    expect(help).toMatch(/--rules\.caps \[\{…\}, …\] +optional, for frequency: each as JSON, \{"max": N, "per":/);
    expect(help).toMatch(/"per":\s+listener_bucket\|episode\|break/);
  });

  test.each([
    ['authority_grant.propose', '--grantee', 'ben@example.com', '--grantee.email ada@example.com'],
    ['policy.create', '--scope', 'workspace', `--scope '{"kind":"workspace"}'`],
    ['policy.create', '--rules', 'none', `--rules '{"caps":[{"max":1,"per":"listener_bucket","window_seconds":1}]}'`],
  ] as const)('%s %s refuses what is no JSON with an example that is', (command, option, text, example) => {
    expect(() => changesOf(command, option, text)).toThrow(UsageError);
    expect(() => changesOf(command, option, text)).toThrow(example);
  });
});

test('words and IDs of a list may be separated by commas, free texts not', () => {
  expect(changesOf('report_definition.create', '--dimensions', 'line_item,country', '--metrics', 'downloads')).toEqual({
    dimensions: ['line_item', 'country'],
    metrics: ['downloads'],
  });
  const brand = '{"id": "tea", "name": "Tea, and more"}';
  expect(changesOf('advertiser.create', '--brands', brand)).toEqual({ brands: [JSON.parse(brand)] });
});

test('a misspelt option is answered with the one that is meant', () => {
  expect(() => changesOf('line_item.create', '--campaign-id', 'cmp_1')).toThrow('Did you mean --campaign_id?');
  expect(() => changesOf('line_item.create', '--colour', 'red')).toThrow(/^Unknown option '--colour'$/);
});

describe('the help of a command', () => {
  test('has no line that is longer than a terminal, but for the usage and the example, and no form that is only “JSON”', () => {
    for (const { command_type: type } of described) {
      const help = helpOf(type);
      const long = help.split('\n').filter((line) => line.length > 120 && line.startsWith('  -'));
      expect([type, long]).toEqual([type, []]);
      expect(help).not.toMatch(/\bJSON$|undefined|null$/m);
    }
  });

  test('lists many values below the fields, wrapped', () => {
    const help = helpOf('webhook_endpoint.create');
    expect(help).toMatch(/--events \[EVENT, …\] +required\n/);
    expect(help).toMatch(/^EVENT is one of:\n {2}advertiser\.activated, /m);
  });

  test('shows every form of an object inside the objects of a list', () => {
    const help = helpOf('break_plan.create').replaceAll(/\s+/g, ' ');
    expect(help).toContain(
      '"anchor": {"kind": marker, "key"?: TEXT} or {"kind": time, "position_ms": N} or {"kind": rule,',
    );
  });

  test('has an example with one of the fields of which a command needs one', () => {
    expect(helpOf('billing_statement.generate')).toMatch(
      /manage run billing_statement\.generate --campaign_id cmp_… --period '/,
    );
  });

  test.each([
    'break_plan.create',
    'campaign.create',
    'report.run',
    'billing_statement.generate',
    'forecast.request',
  ] as const)('has an example of %s that the command takes as it stands, once its ids and names are right', (type) => {
    const example = /^Example:\n {2}npx longwave manage run \S+(.*)$/m.exec(helpOf(type))![1]!;
    const words = example.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ''));
    const typed = words.map((word) => word.replaceAll(/\b([a-z]{2,3})_…/g, '$1_01jcq7v8z4n2m6k9s3x5t1r0wd'));
    const { error } = productCatalog.commands[type].changes.safeParse(changesOf(type, ...typed));
    expect(error?.issues).toBeUndefined();
  });

  test('has an example that the command reads', () => {
    for (const { command_type: type } of described) {
      const example = /^Example:\n {2}npx longwave manage run \S+(?: ID)?(.*)$/m.exec(helpOf(type))?.[1];
      if (example === undefined) continue;
      const words = example.match(/'[^']*'|\S+/g) ?? [];
      const typed = words.map((word) => word.replaceAll("'", ''));
      expect(() => changesOf(type as keyof typeof productCatalog.commands, ...typed)).not.toThrow();
    }
  });
});

test('a refused field is answered with its form, an example and the help of the command', () => {
  const command = commandOf(catalog, 'line_item.create');
  const errors = [
    {
      path: '/changes/rate/price/amount_micros',
      code: 'invalid_format',
      detail: '“rate.price.amount_micros” is wrong.',
    },
    {
      path: '/changes/break_positions/0',
      code: 'invalid_value',
      detail: '“break_positions.0” must be “pre”, “mid” or “post”.',
    },
  ];
  const problem = {
    status: 422,
    code: 'validation_failed',
    detail: 'Two fields.',
    errors,
    recovery_url: 'https://x.test/catalog',
  };
  const { message } = explainRefusal(new Refusal(JSON.stringify(problem), 422), command);
  expect(message.split('\n').slice(3)).toEqual([
    '  --rate.price.amount_micros takes 18500000, for example --rate.price.amount_micros 18500000',
    '  --break_positions takes [pre|mid|post, …], for example --break_positions pre',
    '  See: npx longwave manage run line_item.create --help',
  ]);
  const paused = new Refusal(
    JSON.stringify({
      ...problem,
      errors: [{ path: '/changes/cause', code: 'invalid_type', detail: '“cause” is required.' }],
    }),
    422,
  );
  expect(explainRefusal(paused, commandOf(catalog, 'campaign.pause')).message).toContain("--cause 'some words'");
});

test('a value whose form is right is refused without a hint of its form', () => {
  const errors = [{ path: '/changes/units', code: 'above_shortfall', detail: 'Only 40 units are missing.' }];
  const problem = { status: 422, code: 'validation_failed', detail: 'Only 40 units are missing.', errors };
  const { message } = explainRefusal(new Refusal(JSON.stringify(problem), 422), commandOf(catalog, 'makegood.propose'));
  expect(message).toBe(
    'Only 40 units are missing. (validation_failed)\n  See: npx longwave manage run makegood.propose --help',
  );
});

test('types are found by their noun too, and what is misspelt or of another kind is answered with what is meant', () => {
  expect([resourceTypeOf(catalog, 'campaign'), resourceTypeOf(catalog, 'line_items')]).toEqual([
    'campaigns',
    'line_items',
  ]);
  expect([subjectTypeOf(catalog, 'advertiser'), subjectTypeOf(catalog, 'operations')]).toEqual([
    'advertisers',
    'operations',
  ]);
  expect(() => resourceTypeOf(catalog, 'campain')).toThrow('Did you mean “campaign”?');
  expect(() => commandOf(catalog, 'campain.create')).toThrow('Did you mean campaign.create?');
  expect(() => typeOf(catalog, 'op_1')).toThrow('“manage get op_1” shows it, “manage watch op_1” follows it');
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
