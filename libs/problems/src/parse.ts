import type { z } from 'zod';
import { fieldSentence } from './field-sentence.ts';
import { Problem, type FieldError } from './problem.ts';

/** One segment of a JSON Pointer (RFC 6901 §3). */
export const pointerSegment = (name: PropertyKey): string => String(name).replaceAll('~', '~0').replaceAll('/', '~1');

/** The same in an answer about a request: its sender chose the name, so a long one is cut. */
export const shownSegment = (name: PropertyKey): string => pointerSegment(shown(String(name)));

/** Of many wrong fields the first ones are enough to correct a request; its sender alone decides how many it has. */
export const maxFieldErrors = 50;
const maxNameCharacters = 100;

/** A name that its sender chose, as an answer repeats it. */
function shown(name: string): string {
  if (name.length <= maxNameCharacters) return name;
  return `${name.slice(0, maxNameCharacters - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** zod issues as field errors, one per issue and at most 50, paths as JSON Pointers under `root`. */
export function fieldErrors(error: z.ZodError, root = ''): FieldError[] {
  const errors = error.issues.slice(0, maxFieldErrors).flatMap((issue) => {
    const base = [root, ...issue.path.map(shownSegment)].join('/');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.slice(0, maxFieldErrors).map((key) => ({
        path: `${base}/${shownSegment(key)}`,
        code: 'unknown_field',
        detail: `There is no field “${shown(key)}”.`,
      }));
    return [{ path: base, code: issue.code, detail: issue.message }];
  });
  return errors.slice(0, maxFieldErrors);
}

/** The detail of a field error with the name of its field, relative to a command's changes: `title: Use small letters.` */
export function namedDetail({ path, code, detail }: FieldError): string {
  const field = path.replace(/^\/(?:changes\/)?/, '').replaceAll('/', '.');
  return code === 'unknown_field' || field === '' || detail.includes(`“${field}”`) ? detail : `${field}: ${detail}`;
}

/** The parsed value, or a `validation_failed` problem that names every wrong field at once. */
export function parseOrProblem<T extends z.ZodType>(schema: T, value: unknown, root = ''): z.output<T> {
  const result = schema.safeParse(value, { error: fieldSentence });
  if (result.success) return result.data;
  const errors = fieldErrors(result.error, root);
  throw new Problem('validation_failed', errors.map(namedDetail).join(' '), { errors });
}
