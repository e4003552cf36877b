import { isDeepStrictEqual } from 'node:util';
import { pointerSegment } from '@longwave/problems';

/** One step of a JSON Patch (RFC 6902). */
export type PatchStep =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** The part of a version that its history compares. */
interface ComparedVersion {
  readonly lifecycle_state: string;
  readonly attributes: JsonObject;
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The difference between two JSON objects as a JSON Patch: applied to `before` it gives `after`. Members are in the order of their names;
 * a member that is undefined counts as absent. Of a list the equal begin and end stay as they are.
 */
export const diffAttributes = (before: JsonObject, after: JsonObject): PatchStep[] => diffObjects(before, after, '');

/**
 * The way from one version of a resource to another as a JSON Patch over `{lifecycle_state, attributes}`.
 * @param before undefined for a resource that is new
 */
export const diffVersions = (before: ComparedVersion | undefined, after: ComparedVersion): PatchStep[] =>
  diffAttributes(before ? compared(before) : {}, compared(after));

const compared = ({ lifecycle_state, attributes }: ComparedVersion) => ({ lifecycle_state, attributes });

function diffValues(before: unknown, after: unknown, path: string): PatchStep[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) return diffObjects(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after, path);
  return [{ op: 'replace', path, value: after }];
}

function diffObjects(before: JsonObject, after: JsonObject, path: string): PatchStep[] {
  const has = (object: JsonObject, name: string) => Object.hasOwn(object, name) && object[name] !== undefined;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): PatchStep[] => {
    const at = `${path}/${pointerSegment(name)}`;
    if (!has(after, name)) return has(before, name) ? [{ op: 'remove', path: at }] : [];
    if (!has(before, name)) return [{ op: 'add', path: at, value: after[name] }];
    return diffValues(before[name], after[name], at);
  });
}

function diffLists(before: readonly unknown[], after: readonly unknown[], path: string): PatchStep[] {
  const shorter = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < shorter && isDeepStrictEqual(before[begin], after[begin])) begin++;
  let end = 0;
  while (end < shorter - begin && isDeepStrictEqual(before.at(-1 - end), after.at(-1 - end))) end++;
  const [old, present] = [before.slice(begin, before.length - end), after.slice(begin, after.length - end)];
  const at = (index: number) => `${path}/${begin + index}`;
  const changed = old.slice(0, present.length).flatMap((value, i) => diffValues(value, present[i], at(i)));
  const added = present
    .slice(old.length)
    .map((value, i): PatchStep => ({ op: 'add', path: at(old.length + i), value }));
  const removed = old.slice(present.length).map((): PatchStep => ({ op: 'remove', path: at(present.length) }));
  return [...changed, ...added, ...removed];
}
