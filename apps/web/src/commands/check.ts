import type { Schema } from './type-forms.ts';

/** What is wrong with a value, and with which bound. */
type FaultCode =
  'required' | 'too_short' | 'too_long' | 'too_small' | 'too_large' | 'too_few' | 'too_many' | 'format' | 'unknown';

/** A fault of one field. */
export interface Fault {
  /** JSON Pointer into the changes: `/goal/quantity`; empty for the whole. */
  readonly path: string;
  readonly code: FaultCode;
  /** The bound that is not kept. */
  readonly limit?: number | undefined;
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const isInstant = (text: string, anyOffset: boolean): boolean =>
  instant.test(text) && (anyOffset || text.endsWith('Z')) && !Number.isNaN(Date.parse(text));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fault = (path: string, code: FaultCode, limit?: number): readonly Fault[] => [{ path, code, limit }];

function checkText(schema: Schema, value: string, path: string): readonly Fault[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  if (value.length < minLength) return value === '' ? fault(path, 'required') : fault(path, 'too_short', minLength);
  if (value.length > maxLength) return fault(path, 'too_long', maxLength);
  if (schema.enum && !schema.enum.includes(value)) return fault(path, 'unknown');
  if (format === 'date-time' && !isInstant(value, schema.anyOffset === true)) return fault(path, 'format');
  if (format === 'uri' && !URL.canParse(value)) return fault(path, 'format');
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) return fault(path, 'format');
  return [];
}

function checkNumber(schema: Schema, value: number, path: string): readonly Fault[] {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (schema.type === 'integer' && !Number.isInteger(value)) return fault(path, 'format');
  if (value < minimum) return fault(path, 'too_small', minimum);
  return value > maximum ? fault(path, 'too_large', maximum) : [];
}

function checkList(schema: Schema, value: readonly unknown[], path: string): readonly Fault[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = schema;
  if (value.length < minItems) return fault(path, 'too_few', minItems);
  if (value.length > maxItems) return fault(path, 'too_many', maxItems);
  return value.flatMap((item, at) => checkAt(items, item, `${path}/${at}`));
}

function checkObject(schema: Schema, value: Readonly<Record<string, unknown>>, path: string): readonly Fault[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const missing = required.filter((name) => value[name] === undefined);
  return [
    ...missing.flatMap((name) => fault(`${path}/${name}`, 'required')),
    ...Object.entries(value).flatMap(([name, each]) => {
      if (each === undefined) return [];
      const of = properties[name];
      if (of) return checkAt(of, each, `${path}/${name}`);
      return additionalProperties === false ? fault(`${path}/${name}`, 'unknown') : [];
    }),
  ];
}

/** Whether a value has what tells a form from others: `kind` of a scope or an anchor. */
export const isMeant = ({ properties = {} }: Schema, value: unknown): boolean =>
  isObject(value) &&
  Object.entries(properties).every(([name, of]) => of.const === undefined || of.const === value[name]);

/** Of several forms of a value the faults of the one that was meant, else of that with the fewest. */
function checkAny(forms: readonly Schema[], value: unknown, path: string): readonly Fault[] {
  const meant = forms.filter((form) => isMeant(form, value));
  const found = (meant.length > 0 ? meant : forms).map((form) => checkAt(form, value, path));
  return found.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function checkAt(schema: Schema, value: unknown, path: string): readonly Fault[] {
  const forms = schema.oneOf ?? schema.anyOf;
  if (forms) return checkAny(forms, value, path);
  if (schema.const !== undefined) return value === schema.const ? [] : fault(path, 'unknown');
  switch (schema.type) {
    case 'object':
      return isObject(value) ? checkObject(schema, value, path) : fault(path, 'required');
    case 'array':
      return Array.isArray(value) ? checkList(schema, value, path) : fault(path, 'required');
    case 'string':
      return typeof value === 'string' ? checkText(schema, value, path) : fault(path, 'required');
    case 'integer':
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
        ? checkNumber(schema, value, path)
        : fault(path, 'format');
    case 'boolean':
      return typeof value === 'boolean' ? [] : fault(path, 'required');
    case 'null':
      return value === null ? [] : fault(path, 'unknown');
    default:
      return [];
  }
}

/**
 * What is wrong with the changes of a command, before they are sent. Rules that are code (one field against another, the state of other things) are the
 * server's, which names their field.
 */
export const check = (schema: Schema, changes: unknown): readonly Fault[] => checkAt(schema, changes, '');
