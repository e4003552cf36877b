import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { createPool } from '@longwave/postgres';
import { schemaOwners, services } from '@longwave/services';
import { startTestDatabase } from '../src/test-database.ts';
import { workspaceRoot } from '../src/workspace-root.ts';

/** A value of each type of column that the schemas have, as SQL. */
const samples: Readonly<Record<string, string>> = {
  text: `'text'`,
  bool: 'true',
  int4: '1',
  int8: '1',
  float8: '1.5',
  json: `'{}'`,
  jsonb: `'{}'`,
  timestamptz: 'now()',
  date: 'now()',
  uuid: `gen_random_uuid()`,
  bytea: `'\\x00'`,
  int8multirange: `'{[1,2)}'`,
  _text: `'{text}'`,
  _float8: `'{1.5}'`,
  _bytea: `array['\\x01'::bytea]`,
  _uuid: 'array[gen_random_uuid()]',
};

function nameOfType(value: unknown): string {
  if (Array.isArray(value)) return `${nameOfType(value[0])}[]`;
  if (value instanceof Date) return 'Date';
  if (Buffer.isBuffer(value)) return 'Buffer';
  return typeof value;
}

/** "table.column" → its type, as an interface of the generated row types says it. */
function readInterface(file: string, name: 'Rows' | 'JsonRows'): Record<string, string> {
  const [, body = ''] =
    new RegExp(`export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(readFileSync(file, 'utf8')) ?? [];
  return Object.fromEntries(
    [...body.matchAll(/^ {2}(\w+): \{\n(.*?)^ {2}\};/gms)].flatMap(([, table, columns = '']) =>
      [...columns.matchAll(/^ {4}(\w+): (.*);$/gm)].map(([, column, type]) => [`${table}.${column}`, type!]),
    ),
  );
}

test.each(schemaOwners(services))(
  'the row types of %s name every column of the migrated tables, with what pg returns for it',
  async (app, schema) => {
    await using stack = new AsyncDisposableStack();
    const database = stack.use(await startTestDatabase({ schema, migrations: `apps/${app}/prisma` }));
    const pool = stack.adopt(createPool(database.adminUrl, schema, { name: 'test', max: 1 }), (it) => it.end());
    const { rows: columns } = await pool.query<{ name: string; type: string; nullable: boolean }>(
      `select table_name || '.' || column_name as name, udt_name as type, is_nullable = 'YES' as nullable
     from information_schema.columns join pg_class on oid = format('%I.%I', table_schema, table_name)::regclass
     where table_schema = $1 and table_name not like '\\_%' and not relispartition`,
      [schema],
    );
    const expected = { Rows: {} as Record<string, string>, JsonRows: {} as Record<string, string> };
    for (const { name, type, nullable } of columns) {
      const sample = samples[type];
      if (sample === undefined) throw new Error(`${name} is of type ${type}, of which this test has no sample`);
      const { rows } = await pool.query<{ value: unknown; json: { value: unknown } }>(
        `with one as (select ${sample}::${type} as value) select value, to_json(one) as json from one`,
      );
      const typed = (of: unknown) =>
        (type.startsWith('json') ? 'unknown' : nameOfType(of)) + (nullable ? ' | null' : '');
      expected.Rows[name] = typed(rows[0]!.value);
      expected.JsonRows[name] = typed(rows[0]!.json.value);
    }
    // A schema that two apps read stands in the library that both use.
    const schemaFile = realpathSync(path.join(workspaceRoot, `apps/${app}/prisma/schema.prisma`));
    const file = path.resolve(path.dirname(schemaFile), '../src/generated/rows.ts');
    expect(columns.length).toBeGreaterThan(0);
    expect(readInterface(file, 'Rows')).toEqual(expected.Rows);
    expect(readInterface(file, 'JsonRows')).toEqual(expected.JsonRows);
  },
);
