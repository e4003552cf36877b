import type { FormState, FormValues, FormVersion } from './form-state.ts';

/** Unsaved text with the version that it was typed on. */
export interface Draft<V extends FormValues> {
  readonly base: FormVersion<V>;
  readonly values: V;
}

const prefix = 'longwave-draft:';
type Keep = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Whether a stored value has the fields of the form and no other: a form of an earlier release may have had others. */
function hasFields<V extends FormValues>(value: unknown, like: V): value is V {
  if (typeof value !== 'object' || value === null) return false;
  const kindOf = (each: unknown) => (Array.isArray(each) ? 'list' : typeof each);
  const names = Object.keys(like);
  const given = value as Record<string, unknown>;
  return (
    Object.keys(given).length === names.length && names.every((name) => kindOf(given[name]) === kindOf(like[name]))
  );
}

/** The unsaved text of a form, in the browser until it is saved or the person signs out (`Clear-Site-Data`). */
export const drafts = (store: Keep) => ({
  /** @param like values of the form as it is now */
  find: <V extends FormValues>(id: string, like: V): Draft<V> | undefined => {
    try {
      const found = JSON.parse(store.getItem(prefix + id) ?? 'null') as Partial<Draft<V>> | null;
      if (!found || !hasFields(found.values, like) || !hasFields(found.base?.values, like)) return undefined;
      const { etag } = found.base;
      return {
        base: { etag: typeof etag === 'string' ? etag : undefined, values: found.base.values },
        values: found.values,
      };
    } catch {
      return undefined;
    }
  },
  save: <V extends FormValues>(id: string, { base, values }: FormState<V>): void => {
    try {
      store.setItem(prefix + id, JSON.stringify({ base, values }));
    } catch {
      // A full or forbidden store: the text is on the page all the same.
    }
  },
  drop: (id: string): void => {
    try {
      store.removeItem(prefix + id);
    } catch {
      // Nothing was kept.
    }
  },
});
