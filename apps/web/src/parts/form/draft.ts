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

/** What is unsaved, in the browser until it is saved or the person signs out (`Clear-Site-Data`). Who finds something looks whether it fits. */
export const unsaved = (store: Keep) => ({
  find: (id: string): unknown => {
    try {
      return JSON.parse(store.getItem(prefix + id) ?? 'null') as unknown;
    } catch {
      return undefined;
    }
  },
  save: (id: string, value: unknown): void => {
    try {
      store.setItem(prefix + id, JSON.stringify(value));
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

/** The store of this browser, asked for only when it is used: a browser may forbid it. */
export const browserStore: Keep = {
  getItem: (key) => localStorage.getItem(key),
  setItem: (key, text) => localStorage.setItem(key, text),
  removeItem: (key) => localStorage.removeItem(key),
};

/** The unsaved text of a form. */
export const drafts = (store: Keep) => {
  const { find, save, drop } = unsaved(store);
  return {
    /** @param like values of the form as it is now */
    find: <V extends FormValues>(id: string, like: V): Draft<V> | undefined => {
      const found = find(id) as Partial<Draft<V>> | null | undefined;
      if (!found || !hasFields(found.values, like) || !hasFields(found.base?.values, like)) return undefined;
      const { etag } = found.base;
      return {
        base: { etag: typeof etag === 'string' ? etag : undefined, values: found.base.values },
        values: found.values,
      };
    },
    save: <V extends FormValues>(id: string, { base, values }: FormState<V>): void => save(id, { base, values }),
    drop,
  };
};
