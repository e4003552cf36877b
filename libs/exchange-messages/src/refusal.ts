import type { z } from 'zod';
import { maxFieldErrors } from './limits.ts';

/** One member that is wrong: `path` is a JSON Pointer (RFC 6901), `code` is stable, `detail` is a sentence for people. */
export interface FieldError {
  readonly path: string;
  readonly code: string;
  readonly detail: string;
}

/** The reasons why a message is not read: at least one. `code` is the problem code of the answer. */
export interface Refusal<Code extends string> {
  readonly ok: false;
  readonly code: Code;
  readonly errors: readonly FieldError[];
}

const maxNameCharacters = 100;

/** A name that its sender chose, as an answer repeats it: a long one is cut. */
function shownName(name: string): string {
  if (name.length <= maxNameCharacters) return name;
  return `${name.slice(0, maxNameCharacters - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** JSON Pointer (RFC 6901 §3) of a member; long names are cut. */
export const pointer = (segments: readonly PropertyKey[]): string =>
  segments.map((name) => `/${shownName(String(name)).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export const refusal = <Code extends string>(code: Code, errors: readonly FieldError[]): Refusal<Code> => ({
  ok: false,
  code,
  errors: errors.slice(0, maxFieldErrors),
});

/** The error of a member that the schema does not have. */
export const unknownField = (path: string, name: string): FieldError => ({
  path: `${path}${pointer([name])}`,
  code: 'unknown_field',
  detail: `There is no field “${shownName(name)}”.`,
});

/** Whether a value lacks the member that an issue is about. */
function isMissing(path: readonly PropertyKey[], value: unknown): boolean {
  const [name, ...below] = path;
  if (name === undefined || typeof value !== 'object' || value === null) return false;
  if (!Object.hasOwn(value, name)) return below.length === 0;
  return isMissing(below, (value as Readonly<Record<PropertyKey, unknown>>)[name]);
}

/**
 * zod issues as field errors, at most 50.
 * @param value what was parsed
 */
export function fieldErrors(issues: readonly z.core.$ZodIssue[], value: unknown): FieldError[] {
  const errors = issues.slice(0, maxFieldErrors).flatMap((issue) => {
    const path = pointer(issue.path);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.slice(0, maxFieldErrors).map((key) => unknownField(path, key));
    const missing = isMissing(issue.path, value) ? `“${String(issue.path.at(-1))}” is missing.` : undefined;
    return [{ path, code: issue.code, detail: missing ?? issue.message }];
  });
  return errors.slice(0, maxFieldErrors);
}
