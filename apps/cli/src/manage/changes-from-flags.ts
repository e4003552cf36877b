import { UsageError } from '../command.ts';
import { parseOptions } from '../parse-options.ts';
import type { JsonSchema } from './catalog.ts';
import { hasNoCommas, optionExample } from './field-text.ts';
import { alternativesOf, fieldsIn, objectsIn, type Field } from './fields.ts';

const isList = ({ type }: JsonSchema) => type === 'array';

/** Whether the text of an option stands for itself; everything else is written as JSON. */
function isText(schema: JsonSchema): boolean {
  const { type, enum: values, const: value } = schema;
  const alternatives = alternativesOf(schema);
  return (
    type === 'string' ||
    (type === undefined && values?.every((each) => typeof each === 'string') === true) ||
    typeof value === 'string' ||
    (alternatives.length > 0 && alternatives.every(isText))
  );
}

function valueOf({ name, schema }: Field, text: string): unknown {
  if (isText(schema)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A field that may be a text or something else: `null`, for example, takes a value away.
    if (alternativesOf(schema).some(isText)) return text;
    throw new UsageError(`--${name}: “${text}” is not JSON. For example: ${waysToSay({ name, schema })}`);
  }
}

/** Options that say a value: one with the whole of it, or those of its fields. */
function waysToSay({ name, schema }: Pick<Field, 'name' | 'schema'>): string {
  const inside = fieldsIn({ properties: { [name]: schema } }).slice(1);
  const parts = inside.filter((field) => objectsIn(field.schema).length === 0).slice(0, 3);
  const shown = parts.map((field) => optionExample(field.name, field.schema));
  return [optionExample(name, schema), ...(shown.length > 0 ? [`or by parts: ${shown.join(', ')}`] : [])].join(', ');
}

/** A list takes one element for each time that its option is given, words and IDs also separated by commas, or all as one JSON array. */
function listOf(field: Field, texts: readonly string[]): unknown[] {
  const element = { ...field, schema: field.schema.items ?? {} };
  return texts.flatMap((text) => {
    if (!text.trimStart().startsWith('['))
      return (hasNoCommas(element.schema) ? text.split(',') : [text]).map((each) => valueOf(element, each));
    const whole = valueOf(field, text);
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
  const parsed = parseOptions({ args: [...args], allowPositionals: true, options: { ...fieldOptions, ...ownOptions } });
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
