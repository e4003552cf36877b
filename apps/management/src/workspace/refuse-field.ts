import { Problem } from '@longwave/problems';

/** Throws `validation_failed` about one field; `path` is its JSON Pointer. */
export function refuseField(path: string, code: string, detail: string): never {
  throw new Problem('validation_failed', detail, { errors: [{ path, code, detail }] });
}
