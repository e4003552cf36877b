import type { z } from 'zod';
import { quoted, type ImportNotes } from './import-notes.ts';

type Valid<S extends z.ZodRawShape> = { [K in keyof S]?: NonNullable<z.output<S[K]>> };
type Path = readonly PropertyKey[];

/** Faults of one field that are removed one by one; a field with more faults is dropped. */
const maxFaults = 100;

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined),
    value,
  );

/** Removes the part at a path from a copied value. */
function remove(value: unknown, path: Path): void {
  const parent = at(value, path.slice(0, -1));
  const key = path.at(-1)!;
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else Reflect.deleteProperty(parent as object, key);
}

const nameOf = (field: string, path: Path): string =>
  path.reduce<string>((name, key) => (typeof key === 'number' ? `${name}[${key}]` : `${name}.${String(key)}`), field);

const shown = (part: unknown): string => quoted(typeof part === 'string' ? part : (JSON.stringify(part) ?? ''));

/** The value without the parts that its schema refuses; undefined when nothing is left. */
function prune(schema: z.ZodType, field: string, original: unknown, notes: ImportNotes): unknown {
  const value: unknown = structuredClone(original);
  for (let faults = 0; faults < maxFaults; faults++) {
    const parsed = schema.safeParse(value);
    if (parsed.success) return Array.isArray(parsed.data) && parsed.data.length === 0 ? undefined : parsed.data;
    const [issue] = parsed.error.issues;
    const { path } = issue!;
    const part = at(value, path);
    if (issue!.code === 'too_big' && Array.isArray(part)) {
      notes.lost(nameOf(field, path), `Only the first ${issue.maximum} of ${part.length} are kept.`);
      part.length = Number(issue.maximum);
      continue;
    }
    // A value without a required part is removed whole.
    const removed = part === undefined || (Array.isArray(part) && part.length === 0) ? path.slice(0, -1) : path;
    if (removed.length === 0) break;
    notes.lost(
      nameOf(field, removed),
      part === undefined ? `It has no “${String(path.at(-1))}”.` : `${shown(part)} is not valid here.`,
    );
    remove(value, removed);
  }
  notes.lost(field, `${shown(original)} is not valid here.`);
  return undefined;
}

/**
 * The fields that the catalog's schema accepts. Parts that another host allowed and the catalog does not are removed and noted; they never
 * prevent the import of the rest.
 */
export function keepValid<S extends z.ZodRawShape>(
  shape: S,
  fields: Readonly<Record<string, unknown>>,
  notes: ImportNotes,
): Valid<S> {
  const kept: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape) as [string, z.ZodType][]) {
    const value = fields[name];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const valid = prune(schema, name, value, notes);
    if (valid !== undefined) kept[name] = valid;
  }
  return kept as Valid<S>;
}

/** The object without its undefined fields. */
export const present = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
