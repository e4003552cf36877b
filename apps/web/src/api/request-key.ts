/** Keys of requests that change something (`Idempotency-Key`). */
export interface RequestKeys {
  /** The key of a request: the same one while the request is the same, so that sending it again does nothing twice. */
  readonly keyOf: (request: unknown) => string;
  /** Notes that the request was done: the next one is another, even if it says the same. */
  readonly end: () => void;
}

/** Keys for one form. */
export function createRequestKeys(newKey: () => string = () => crypto.randomUUID()): RequestKeys {
  let last: { readonly text: string; readonly key: string } | undefined;
  return {
    keyOf: (request) => {
      const text = JSON.stringify(request);
      if (last?.text !== text) last = { text, key: newKey() };
      return last.key;
    },
    end: () => {
      last = undefined;
    },
  };
}
