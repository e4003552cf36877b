/** Upper bounds of how often keys were added, in a fixed memory. */
export interface FrequencySketch {
  readonly add: (key: string) => void;
  readonly atMost: (key: string) => number;
  /** The greatest answer of `atMost`. */
  readonly greatest: () => number;
}

/** Keys that share a counter are added up: with 4 million counters, few do. */
export function createFrequencySketch(counters = 1 << 22): FrequencySketch {
  const counts = new Uint32Array(counters);
  let greatest = 0;
  const place = (key: string) => {
    let value = 0x811c9dc5;
    for (let at = 0; at < key.length; at += 1) value = Math.imul(value ^ key.charCodeAt(at), 0x01000193);
    value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
    return ((value ^ (value >>> 12)) >>> 0) % counters;
  };
  return {
    add: (key) => {
      const at = place(key);
      counts[at]! += 1;
      greatest = Math.max(greatest, counts[at]!);
    },
    atMost: (key) => counts[place(key)]!,
    greatest: () => greatest,
  };
}
