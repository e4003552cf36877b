import { Problem } from '@longwave/problems';
import type { z } from 'zod';

/** What a client sent, by a schema. Throws `validation_failed` with 400, the status of everything malformed here. */
export function parseRequest<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Problem('validation_failed', undefined, { status: 400 });
}

/** Throws `malformed_json`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem('malformed_json', undefined, { cause });
  }
}
