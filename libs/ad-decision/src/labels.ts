import { seedOf } from './decision-hash.ts';

/** A few names, with a mask by which most pairs without a common name are told apart at once. */
export interface Labels {
  readonly names: readonly string[];
  /** One bit per name, by its hash. */
  readonly mask: number;
}

export const indexLabels = (names: readonly string[]): Labels => ({
  names,
  mask: names.reduce((mask, name) => mask | (1 << (seedOf(name) & 31)), 0),
});

export const shareAny = (a: Labels, b: Labels) =>
  (a.mask & b.mask) !== 0 && a.names.some((name) => b.names.includes(name));
