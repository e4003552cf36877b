import fc from 'fast-check';

/** The part of JSON Schema (2020-12) that an OpenAPI document of ours uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** Values that have broken parsers before. */
const nasty = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    0,
    -1,
    1e308,
    Number.MAX_SAFE_INTEGER,
    true,
    [],
    {},
    '\u0000',
    '\ud800',
    '../../etc/passwd',
    "'; drop table podcast; --",
    '<script>',
    'http://169.254.169.254/latest/meta-data',
    'https://localhost:1/x',
    'x'.repeat(5000),
    '99999999999999999999',
    '2026-02-30',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
);

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': fc
    .date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((at) => at.toISOString()),
  date: fc
    .date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((at) => at.toISOString().slice(0, 10)),
  uri: fc.webUrl(),
  email: fc.emailAddress(),
  uuid: fc.uuid(),
};

function text(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.format && formats[schema.format]) return formats[schema.format]!;
  if (schema.pattern) {
    try {
      return fc.stringMatching(new RegExp(schema.pattern, 'u'));
    } catch {
      // A pattern that fast-check cannot follow (look-ahead): any text, which is a fair case too.
    }
  }
  const minLength = schema.minLength ?? 0;
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(schema.maxLength ?? 60, 60)) });
}

/** Values that a schema allows. */
export function allowed(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map(allowed));
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, allowed(inner)])),
        { requiredKeys: [...(schema.required ?? [])] },
      );
    case 'array':
      return fc.array(schema.items ? allowed(schema.items) : nasty, {
        minLength: schema.minItems ?? 0,
        maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? 4, 4)),
      });
    case 'integer':
      return fc.integer({
        min: Math.max(schema.minimum ?? (schema.exclusiveMinimum ?? -1001) + 1, -1e9),
        max: Math.min(schema.maximum ?? 1e9, 1e9),
      });
    case 'number':
      return fc.double({
        min: Math.max(schema.minimum ?? -1e6, -1e6),
        max: Math.min(schema.maximum ?? 1e6, 1e6),
        noNaN: true,
      });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return text(schema);
    default:
      return nasty;
  }
}

/** Values that a schema allows, now and then with a field too many, a field too few, or one that is something else. */
export function nearly(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.type !== 'object') return fc.oneof({ weight: 3, arbitrary: allowed(schema) }, nasty);
  const names = Object.keys(schema.properties ?? {});
  const spoilt = fc
    .tuple(allowed(schema), fc.constantFrom(...names, 'no_such_field', '__proto__'), nasty)
    .map(([value, name, other]) => {
      const copy = { ...(value as object) };
      Object.defineProperty(copy, name, { value: other, enumerable: true });
      return copy;
    });
  return fc.oneof({ weight: 3, arbitrary: allowed(schema) }, { weight: 2, arbitrary: spoilt }, nasty);
}
