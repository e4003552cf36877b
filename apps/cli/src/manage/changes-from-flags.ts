import { parseArgs } from 'node:util';
import { UsageError } from '../command.ts';
import type { JsonSchema } from './catalog.ts';

/** A field of a command that has an option of its own: `window.start` is `--window.start`. */
export interface Field {
  /** Names from the outside in, joined by dots. */
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

const isPlainObject = ({ type, properties }: JsonSchema): boolean =>
  type === 'object' && properties !== undefined && Object.keys(properties).length > 0;

/** The fields of an object's schema; an object inside has an option for the whole of it, and one for each of its fields. */
export function fieldsIn(schema: JsonSchema, prefix = '', isParentRequired = true): Field[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const name = `${prefix}${key}`;
    const isRequired = isParentRequired && required.has(key);
    const field = { name, schema: inner, isRequired };
    return isPlainObject(inner) ? [field, ...fieldsIn(inner, `${name}.`, isRequired)] : [field];
  });
}

const isList = ({ type }: JsonSchema) => type === 'array';

/** Whether the text of an option stands for itself; everything else is written as JSON. */
const isText = ({ type, enum: values, const: value, anyOf }: JsonSchema): boolean =>
  type === 'string' ||
  (type === undefined && values?.every((each) => typeof each === 'string') === true) ||
  typeof value === 'string' ||
  (anyOf?.every(isText) ?? false);

function valueOf({ name, schema }: Field, text: string): unknown {
  if (isText(schema)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A field that may be a text or something else: `null`, for example, takes a value away.
    if (schema.anyOf?.some(isText)) return text;
    throw new UsageError(`--${name}: “${text}” is not JSON. For example: ${exampleOf(schema)}`);
  }
}

/** A value that shows the form of what a schema takes. */
export function exampleOf(schema: JsonSchema): string {
  if (schema.enum?.length) return schema.enum.map((each) => String(each)).join('|');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(exampleOf).join(' | ');
  if (schema.format === 'date-time') return '2026-12-01T00:00:00Z';
  if (schema.type === 'array') return JSON.stringify([]).replace(']', `${exampleOf(schema.items ?? {})}, …]`);
  if (schema.type === 'object')
    return `{${Object.entries(schema.properties ?? {})
      .filter(([key]) => schema.required?.includes(key))
      .map(([key, inner]) => `"${key}": ${exampleOf(inner)}`)
      .join(', ')}}`;
  if (schema.type === 'integer' || schema.type === 'number') return String(schema.minimum ?? 1);
  if (schema.type === 'boolean') return 'true|false';
  return schema.type === 'string' ? 'TEXT' : 'JSON';
}

/** A list takes one element for each time that its option is given, or all of them as one JSON array. */
function listOf(field: Field, texts: readonly string[]): unknown[] {
  const element = { ...field, schema: field.schema.items ?? {} };
  return texts.flatMap((text) => {
    if (!text.trimStart().startsWith('[')) return [valueOf(element, text)];
    const whole = valueOf({ ...field, schema: {} }, text);
    return Array.isArray(whole) ? (whole as unknown[]) : [whole];
  });
}

function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const inner = target[key];
  const next = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {};
  target[key] = next;
  put(next, rest, value);
}

/** Options of `manage run` beside the fields of its command; each takes a value, but for those of type boolean. */
const ownOptions = {
  json: { type: 'string' },
  reason: { type: 'string' },
  key: { type: 'string' },
  'if-version': { type: 'string' },
  print: { type: 'string' },
  wait: { type: 'boolean' },
  workspace: { type: 'string' },
  data: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type RunOptions = {
  readonly [N in keyof typeof ownOptions]?: (typeof ownOptions)[N]['type'] extends 'boolean' ? boolean : string;
};

/** What was typed after `manage run`. */
export interface RunLine {
  readonly words: readonly string[];
  readonly options: RunOptions;
  /** The proposed changes of the options; those of `--json` are their basis. */
  readonly changes: Record<string, unknown>;
}

/**
 * Reads the words, the options and the fields of a command. A field that has the name of an option of ours is given by `--json`.
 * @param readText reads the file that `--json` names, `-` for standard input
 */
export function readRunLine(
  args: readonly string[],
  changesSchema: JsonSchema,
  readText: (name: string) => string,
): RunLine {
  const fields = fieldsIn(changesSchema).filter(({ name }) => !Object.hasOwn(ownOptions, name));
  const fieldOptions = Object.fromEntries(
    fields.map(({ name }) => [name, { type: 'string', multiple: true } as const]),
  );
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], allowPositionals: true, options: { ...fieldOptions, ...ownOptions } });
  } catch (error) {
    throw new UsageError((error as Error).message.split('. To specify a positional argument')[0]);
  }
  const values = parsed.values as Readonly<Record<string, string[] | string | boolean | undefined>>;
  const changes = values['json'] === undefined ? {} : objectIn(readText(values['json'] as string));
  // From the outside in: a field of an object replaces what the object's own option says.
  for (const field of fields) {
    const texts = values[field.name] as string[] | undefined;
    if (texts === undefined) continue;
    if (texts.length > 1 && !isList(field.schema)) throw new UsageError(`--${field.name} is given twice.`);
    put(changes, field.name.split('.'), isList(field.schema) ? listOf(field, texts) : valueOf(field, texts[0]!));
  }
  return { words: parsed.positionals, options: values, changes };
}

function objectIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError('--json: this is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError('--json: write an object with the changes, for example {"name": "Spring"}.');
  return value as Record<string, unknown>;
}
