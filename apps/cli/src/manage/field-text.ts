import type { JsonSchema } from './catalog.ts';
import { alternativesOf, objectsIn } from './fields.ts';

/** Longest list of values, in characters, that stands beside the name of its option. */
const maxInline = 60;

const idPrefix = ({ pattern }: JsonSchema) => /^\^([a-z]+)_\[0-9a-z\]\{26\}\$$/.exec(pattern ?? '')?.[1];
const isDigits = ({ pattern }: JsonSchema) => pattern?.startsWith('^\\d{') === true;
const isCurrency = ({ pattern }: JsonSchema) => pattern === '^[A-Z]{3}$';

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const joined = (values: readonly unknown[]) => values.map(asText).join('|');

/** Whether a list takes its values separated by commas: words of a closed list, or IDs, have no comma in them. */
export const hasNoCommas = (schema: JsonSchema): boolean =>
  schema.enum?.every((each) => typeof each === 'string' && !each.includes(',')) === true ||
  idPrefix(schema) !== undefined;

/** "events" → "EVENT", "ad_product_categories" → "AD_PRODUCT_CATEGORY" */
const wordOf = (name: string) =>
  name
    .split('.')
    .at(-1)!
    .replace(/ies$/, 'y')
    .replace(/(ss)$|s$/, '$1')
    .toUpperCase();

/** The values of a field that are too many to stand beside its name, under the word that stands there; undefined for any other field. */
export function longListOf(
  name: string,
  schema: JsonSchema,
): { readonly word: string; readonly values: readonly string[] } | undefined {
  const values = (schema.items ?? schema).enum?.map(String);
  return values && joined(values).length > maxInline ? { word: wordOf(name), values } : undefined;
}

/** The form of what a field takes, for people: `impressions|completes`, `[pod_…, …]`. */
export function placeholderOf(name: string, schema: JsonSchema): string {
  if (objectsIn(schema).length > 0) return '{…}';
  const long = longListOf(name, schema);
  if (schema.type === 'array') return `[${long?.word ?? placeholderOf(name, schema.items ?? {})}, …]`;
  if (long) return long.word;
  if (schema.enum?.length) return joined(schema.enum);
  if (schema.const !== undefined) return asText(schema.const);
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return joined([...new Set(alternatives.map((each) => placeholderOf(name, each)))]);
  return typeof exampleOf(schema) === 'string' && schema.type === 'string' && isPlainText(schema)
    ? 'TEXT'
    : ({ integer: 'N', number: 'N', boolean: 'true|false', object: '{…}' }[schema.type ?? ''] ??
        String(exampleOf(schema)));
}

const isPlainText = (schema: JsonSchema) =>
  schema.format === undefined && idPrefix(schema) === undefined && !isDigits(schema) && !isCurrency(schema);

/** A text of a format or pattern that the catalog uses. */
function textExample(schema: JsonSchema): string {
  const prefix = idPrefix(schema);
  if (prefix !== undefined) return `${prefix}_…`;
  if (isDigits(schema)) return '18500000';
  if (isCurrency(schema)) return 'EUR';
  const formats: Readonly<Record<string, string>> = {
    'date-time': '2026-12-01T00:00:00Z',
    date: '2026-12-01',
    email: 'ada@example.com',
    uri: 'https://example.com/',
  };
  return formats[schema.format ?? ''] ?? 'TEXT';
}

/** The end of a window whose start is the example of a time. */
const exampleEnd = '2027-01-01T00:00:00Z';

/** A value of the form of a schema: its own example, else what an object needs, and one element of a list. */
export function exampleOf(schema: JsonSchema): unknown {
  if (schema.examples?.length) return schema.examples[0];
  if (schema.enum?.length) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  const [first] = alternativesOf(schema);
  if (first) return exampleOf(first);
  switch (schema.type) {
    case 'array':
      return [exampleOf(schema.items ?? {})];
    case 'object': {
      const properties = Object.entries(schema.properties ?? {});
      const needed = properties.filter(([key]) => schema.required?.includes(key));
      const shown = needed.length > 0 ? needed : properties.slice(0, 1);
      return Object.fromEntries(
        shown.map(([key, inner]) => [
          key,
          key === 'end' && inner.format === 'date-time' ? exampleEnd : exampleOf(inner),
        ]),
      );
    }
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return textExample(schema);
  }
}

/**
 * The form of an object for people, `?` after the name of what may be absent: `{"max": N, "per": episode|break}`. An object inside has
 * each of its forms: `{"anchor": {"kind": marker} or {"kind": time, "position_ms": N}}`.
 */
export function objectForm({ properties = {}, required = [] }: JsonSchema): string {
  const fields = Object.entries(properties).map(([key, inner]) => {
    const forms = objectsIn(inner).map(objectForm);
    return `"${key}"${required.includes(key) ? '' : '?'}: ${forms.join(' or ') || placeholderOf(key, inner)}`;
  });
  return `{${fields.join(', ')}}`;
}

const shellQuoted = (text: string) => (/^[\w.,:@/+%…-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** An option with a value of its form, as it is typed in a shell: `--window '{"start":"…"}'`. */
export function optionExample(name: string, schema: JsonSchema): string {
  const element = schema.type === 'array' && hasNoCommas(schema.items ?? {}) ? (schema.items ?? {}) : schema;
  const example = exampleOf(element);
  return `--${name} ${shellQuoted(typeof example === 'string' ? example : JSON.stringify(example))}`;
}
