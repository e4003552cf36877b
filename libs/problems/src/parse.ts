import type { z } from 'zod';
import { fieldSentence } from './field-sentence.ts';
import { Problem, type FieldError } from './problem.ts';

/** One segment of a JSON Pointer (RFC 6901 §3). */
export const pointerSegment = (name: PropertyKey): string => String(name).replaceAll('~', '~0').replaceAll('/', '~1');

/** zod issues as field errors, one per issue, paths as JSON Pointers under `root`. */
export function fieldErrors(error: z.ZodError, root = ''): FieldError[] {
  return error.issues.flatMap((issue) => {
    const base = [root, ...issue.path.map(pointerSegment)].join('/');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        path: `${base}/${pointerSegment(key)}`,
        code: 'unknown_field',
        detail: `There is no field “${key}”.`,
      }));
    return [{ path: base, code: issue.code, detail: issue.message }];
  });
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
