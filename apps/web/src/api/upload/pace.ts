/** How much of the past counts, in milliseconds. */
const windowMs = 10_000;
/** A shorter past says nothing. */
const leastMs = 1_000;

/** How fast bytes go, from how many had gone at which times. */
export interface Pace {
  /** Notes that so many bytes had gone at a time. Fewer than before, as after a part that failed, begin anew. */
  readonly note: (atMs: number, bytes: number) => void;
  /** Bytes a second over the last ten seconds; undefined at the beginning. */
  readonly perSecond: () => number | undefined;
  /** Forgets everything, as after a pause. */
  readonly forget: () => void;
}

export function createPace(): Pace {
  let notes: readonly (readonly [atMs: number, bytes: number])[] = [];
  return {
    note: (atMs, bytes) => {
      const last = notes.at(-1);
      const kept = last && last[1] > bytes ? [] : notes.filter(([before]) => before >= atMs - windowMs);
      notes = [...kept, [atMs, bytes]];
    },
    perSecond: () => {
      const [first, last] = [notes[0], notes.at(-1)];
      if (!first || !last || last[0] - first[0] < leastMs) return undefined;
      return ((last[1] - first[1]) * 1000) / (last[0] - first[0]);
    },
    forget: () => void (notes = []),
  };
}

/** How long the rest takes, in whole seconds; undefined while that cannot be said. */
export const secondsLeft = (left: number, perSecond: number | undefined): number | undefined =>
  perSecond === undefined || perSecond <= 0 ? undefined : Math.ceil(left / perSecond);
