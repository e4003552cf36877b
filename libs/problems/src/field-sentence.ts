import type { z } from 'zod';

/** Values that a sentence lists; longer lists stand in the API's documentation. */
const maxListed = 12;

const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'text',
};

const formats: Readonly<Record<string, string>> = {
  date: 'must be a date, for example 2026-11-22',
  datetime: 'must be a date and time, for example 2026-11-22T10:00:00Z',
  email: 'must be an e-mail address',
  url: 'must be a web address, for example https://example.com/feed.xml',
};

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
  set: ['entry', 'entries'],
  map: ['entry', 'entries'],
};

const quoted = (value: unknown) => `“${String(value)}”`;

/** “a”, “b” or “c”. */
const listed = (values: readonly unknown[]) =>
  values.length < 2
    ? values.map(quoted).join('')
    : `${values.slice(0, -1).map(quoted).join(', ')} or ${quoted(values.at(-1))}`;

/** A bound of a number or of a length, in words. */
function bound(origin: string, limit: number | bigint, side: 'least' | 'most', inclusive: boolean): string {
  const unit = units[origin];
  if (unit === undefined) {
    if (inclusive) return `must be at ${side} ${limit}`;
    return `must be ${side === 'least' ? 'more' : 'less'} than ${limit}`;
  }
  if (side === 'least' && Number(limit) === 1) return 'must not be empty';
  return `must have at ${side} ${limit} ${Number(limit) === 1 ? unit[0] : unit[1]}`;
}

function predicate(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${kinds[issue.expected] ?? 'of another kind'}`;
    case 'too_small':
      return bound(issue.origin, issue.minimum, 'least', issue.inclusive ?? true);
    case 'too_big':
      return bound(issue.origin, issue.maximum, 'most', issue.inclusive ?? true);
    case 'invalid_format':
      return formats[issue.format] ?? 'does not have the form that the API documentation gives';
    case 'invalid_value':
      if (issue.values.length > maxListed)
        return issue.input === undefined ? 'is required' : 'is not one of the values that the API documentation lists';
      return `${issue.input === undefined ? 'is required and ' : ''}must be ${listed(issue.values)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : 'does not have the form that the API documentation gives';
    default:
      return 'is not valid';
  }
}

/**
 * The error of one field, as a sentence with the field's name: “title” is required. An error map of zod, for
 * `schema.safeParse(value, { error: fieldSentence })`; texts that a schema states itself go before it.
 */
export function fieldSentence(issue: z.core.$ZodRawIssue): string {
  const name = (issue.path ?? []).map(String).join('.');
  return `${name === '' ? 'The value' : quoted(name)} ${predicate(issue)}.`;
}
