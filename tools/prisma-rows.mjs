#!/usr/bin/env node
/**
 * A Prisma generator: writes the types of rows of raw SQL, by table and column name, from the same schema that migrations come from.
 * `Rows` is what `pg` returns for a column; `JsonRows` what `to_json` writes and `json_populate_recordset` reads.
 * Prisma talks to generators in lines of JSON-RPC: requests on standard input, answers on standard error.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** By Prisma type: what `pg` returns, and the same value in JSON. */
const scalars = {
  String: ['string', 'string'],
  Boolean: ['boolean', 'boolean'],
  Int: ['number', 'number'],
  BigInt: ['string', 'number'],
  Float: ['number', 'number'],
  Decimal: ['string', 'number'],
  DateTime: ['Date', 'string'],
  Json: ['unknown', 'unknown'],
  Bytes: ['Buffer', 'string'],
};

/** Prisma tells generators nothing of columns whose type it does not know: `Unsupported("…")`. `pg` returns them as text. */
function withUnsupported(models, schema) {
  const blocks = new Map([...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)].map(([, name, body]) => [name, body]));
  return models.map((model) => {
    const unknown = [...blocks.get(model.name).matchAll(/^ *(\w+) +Unsupported\("[^"]*"\)(\?)?(.*)$/gm)];
    const fields = unknown.map(([, name, optional, attributes]) => ({
      name,
      dbName: /@map\("(\w+)"\)/.exec(attributes)?.[1],
      kind: 'scalar',
      type: 'String',
      isRequired: optional === undefined,
    }));
    return { ...model, fields: [...model.fields, ...fields] };
  });
}

function typeOf(field, form) {
  const scalar = scalars[field.type]?.[form];
  if (field.kind !== 'scalar' || !scalar)
    throw new Error(`${field.name} has the type ${field.type}, which has no row type yet`);
  return field.isList ? `${scalar}[]` : scalar;
}

/** The name in the database of a model or field. */
const nameOf = ({ dbName, name }) => dbName ?? name;
const columnsOf = (model) => model.fields.filter((field) => field.kind !== 'object');

function renderTables(models, form) {
  return models.map((model) => {
    const columns = columnsOf(model).map((field) => {
      // Prisma makes every column of a list nullable.
      const nullable = field.isRequired && !field.isList ? '' : ' | null';
      return `    ${nameOf(field)}: ${typeOf(field, form)}${nullable};\n`;
    });
    return `  ${nameOf(model)}: {\n${columns.join('')}  };\n`;
  });
}

function render(models) {
  return `/* Generated from prisma/*.prisma. Do not edit. */

/** Rows by table, as \`pg\` returns them. */
export interface Rows {
${renderTables(models, 0).join('')}}

/** Rows by table, as \`to_json\` writes and \`json_populate_recordset\` reads them. */
export interface JsonRows {
${renderTables(models, 1).join('')}}

/** Some columns of a table. \`Known\` says what the schema leaves open: what is in JSON, which words a text has, what is never null here. */
export type Columns<
  Table extends keyof Rows,
  Names extends keyof Rows[Table],
  Known extends { [Name in keyof Known]: Name extends Names ? Rows[Table][Name] : never } = {},
> = Omit<Pick<Rows[Table], Names>, keyof Known> & Known;

/** The columns of each table for a statement that writes whole rows: \`select *\` would write null into columns that come later. */
export const columns = {
${models.map((model) => `  ${nameOf(model)}: '${columnsOf(model).map(nameOf).join(', ')}',\n`).join('')}};
`;
}

function generate({ generator, dmmf, datamodel }) {
  const file = generator.output.value;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, render(withUnsupported(dmmf.datamodel.models, datamodel)));
  return null;
}

const methods = {
  getManifest: () => ({ manifest: { prettyName: 'row types', defaultOutput: '../src/generated/rows.ts' } }),
  generate,
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = (content) => process.stderr.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...content })}\n`);
  try {
    answer({ result: methods[method](params) });
  } catch (error) {
    answer({ error: { code: 1, message: error.message, data: { stack: error.stack } } });
  }
});
