import type { Resource, Step } from '../api/management.ts';
import { changesOf, changedFields, cleaned, isObject, type Draft } from './form-value.ts';
import type { Schema } from './type-forms.ts';

/** A version of a resource as the person saw it. */
export type Seen = Pick<Resource, 'version' | 'lifecycle_state' | 'attributes'>;

/** The form of a command while one types. Changes are counted against what the person saw, and sent with that version. */
export interface Opened {
  /** Undefined for a command that makes its subject. */
  readonly seen: Seen | undefined;
  /** What the form began with. */
  readonly start: Draft;
  readonly draft: Draft;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether something was typed that leaving would lose. */
export const isTyped = (schema: Schema, { start, draft }: Opened): boolean =>
  !isSame(cleaned(schema, draft), cleaned(schema, start));

/** A form of an earlier visit, of what the browser kept; undefined for what is none. */
export function keptForm(found: unknown, hasSubject: boolean): Opened | undefined {
  if (!isObject(found) || !isObject(found['draft']) || !isObject(found['start'])) return undefined;
  const { draft, start, seen } = found;
  if (!hasSubject) return { seen: undefined, start, draft };
  if (!isObject(seen) || !isObject(seen['attributes'])) return undefined;
  const { version, lifecycle_state: state, attributes } = seen;
  if (typeof version !== 'number' || typeof state !== 'string') return undefined;
  return { seen: { version, lifecycle_state: state, attributes }, start, draft };
}

/** What somebody else changed since the form was opened. */
export interface Meanwhile {
  readonly theirs: readonly Step[];
  /** What this form would change. */
  readonly mine: readonly Step[];
  /** Fields of the form that somebody else changed. */
  readonly fields: readonly string[];
  /** Those of them that were changed here too. */
  readonly contested: readonly string[];
}

const step = (path: string, value: unknown): Step => ({ op: 'replace', path, value });

/** Compares a newer version with the one that the person saw; undefined where nothing of it was changed that people see. */
export function meanwhileOf(schema: Schema, { seen, draft }: Opened, now: Seen): Meanwhile | undefined {
  if (!seen || now.version <= seen.version) return undefined;
  const names = [...new Set([...Object.keys(seen.attributes), ...Object.keys(now.attributes)])];
  const changed = names.filter((name) => !isSame(seen.attributes[name], now.attributes[name]));
  const theirs = changed.map((name) => step(`/attributes/${name}`, now.attributes[name]));
  if (now.lifecycle_state !== seen.lifecycle_state) theirs.unshift(step('/lifecycle_state', now.lifecycle_state));
  if (theirs.length === 0) return undefined;
  const fields = changed.filter((name) => schema.properties?.[name] !== undefined);
  const own = changedFields(schema, draft, seen.attributes);
  const contested = fields.filter((name) => own.includes(name) && !isSame(draft[name], now.attributes[name]));
  const sent = Object.entries(changesOf(schema, draft, seen.attributes)).filter(([name]) => own.includes(name));
  return { theirs, mine: sent.map(([name, value]) => step(`/attributes/${name}`, value)), fields, contested };
}

/** The form on a newer version: what only they changed is theirs, what both changed is whose one chose. */
export function decidedOn(schema: Schema, opened: Opened, now: Seen, whose: 'mine' | 'theirs'): Opened {
  const { fields = [], contested = [] } = meanwhileOf(schema, opened, now) ?? {};
  const taken = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, now.attributes[name]]));
  const kept = whose === 'mine' ? contested : [];
  return {
    seen: now,
    start: { ...opened.start, ...taken(fields) },
    draft: { ...opened.draft, ...taken(fields.filter((name) => !kept.includes(name))) },
  };
}
