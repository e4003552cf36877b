import { addBit, createBits, removeBit, type PreparedPlay } from '@longwave/ad-decision';
import { forEachBit } from './simulated-credit.ts';

/** The line items of one index, and which of them fit the breaks of plays: window, targeting, floors and policies, whatever competes. */
interface FitsPart {
  readonly prepare: (at: number) => Pick<PreparedPlay, 'eligible'>;
  /** By their ordinals in that index, where they stand in the index of the whole plan; −1 for one that is left out of it. */
  readonly ordinals: readonly number[];
}

/** Which line items of a plan fit plays: those that it had first, and those of each addition. */
export type LineFits = readonly FitsPart[];

/** The same line items in another index. @param moved by their ordinals before, those that they have there; −1 for none */
export const moveFits = (fits: LineFits, moved: readonly number[]): LineFits =>
  fits.map(({ prepare, ordinals }) => ({ prepare, ordinals: ordinals.map((one) => (one < 0 ? -1 : moved[one]!)) }));

/** A set of line items that is asked which of them fit a break. */
export interface LineSet {
  readonly size: () => number;
  readonly add: (ordinal: number) => void;
  readonly delete: (ordinal: number) => void;
  /** Visits those that fit a break of a play. */
  readonly visitFitting: (at: number, inBreak: number, visit: (ordinal: number) => void) => void;
}

/** An empty set of line items of these. */
export function createLineSet(fits: LineFits): LineSet {
  const places = new Map<number, readonly [part: number, place: number]>();
  fits.forEach(({ ordinals }, part) => ordinals.forEach((ordinal, place) => places.set(ordinal, [part, place])));
  const sets = fits.map(({ ordinals }) => createBits(ordinals.length));
  const both = sets.map((set) => set.slice());
  const members = new Set<number>();
  return {
    size: () => members.size,
    add: (ordinal) => {
      const [part, place] = places.get(ordinal)!;
      addBit(sets[part]!, place);
      members.add(ordinal);
    },
    delete: (ordinal) => {
      if (!members.delete(ordinal)) return;
      const [part, place] = places.get(ordinal)!;
      removeBit(sets[part]!, place);
    },
    visitFitting: (at, inBreak, visit) =>
      fits.forEach(({ prepare, ordinals }, part) => {
        const [set, found, { bits }] = [sets[part]!, both[part]!, prepare(at).eligible[inBreak]!];
        for (let word = 0; word < set.length; word++) found[word] = set[word]! & bits[word]!;
        forEachBit(found, (place) => visit(ordinals[place]!));
      }),
  };
}
