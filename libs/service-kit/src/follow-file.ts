import { statSync } from 'node:fs';

/** A changed file is noticed within this time. */
const checkEveryMs = 250;

/**
 * Answers the present value of a file: `read` runs again after the file was changed, or replaced. While it throws, the last value stays and
 * `onError` is called once for each change. The value is the same object as long as the file is the same.
 */
export function followFile<T>(file: string, first: T, read: () => T, onError: (error: unknown) => void): () => T {
  const stateOf = () => {
    const { mtimeMs, ino, size } = statSync(file);
    return [mtimeMs, ino, size].join(' ');
  };
  let value = first;
  let seen = stateOf();
  let checkedMs = performance.now();
  return () => {
    if (performance.now() - checkedMs < checkEveryMs) return value;
    checkedMs = performance.now();
    try {
      const state = stateOf();
      if (state === seen) return value;
      seen = state;
      value = read();
    } catch (error) {
      onError(error);
    }
    return value;
  };
}
