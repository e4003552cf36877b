import { windows, type Window } from '@longwave/audience';
import { keyParts, placeLevels, type Tally } from './tally.ts';

/** The identity of a number in a tally. */
interface Figure {
  readonly section: 'podcasts' | 'episodes' | 'days' | 'ads' | 'facts' | 'held';
  /** Of downloads and listeners alone. */
  readonly window?: Window;
  /** Ids, from the workspace to the narrowest; a code for facts and held downloads. */
  readonly key: readonly string[];
  readonly measure: string;
}

/** A number by two counters. */
export interface ComparedFigure extends Figure {
  readonly stored: number;
  readonly recounted: number;
  /** Whether they are further apart than the tolerance allows. */
  readonly differs: boolean;
}

/** Every number of a tally. */
function figuresOf(tally: Tally, shown: readonly Window[]): (readonly [Figure, number])[] {
  const measures = (numbers: object) => Object.entries(numbers) as [string, number][];
  return [
    ...shown.flatMap((window) =>
      placeLevels.flatMap((section) =>
        [...tally.windows[window][section]].flatMap(([key, counted]) =>
          measures(counted).map(([measure, value]): [Figure, number] => [
            { section, window, key: keyParts(key), measure },
            value,
          ]),
        ),
      ),
    ),
    ...[...tally.ads].flatMap(([key, counted]) =>
      measures(counted).map(([measure, value]): [Figure, number] => [
        { section: 'ads', key: keyParts(key), measure },
        value,
      ]),
    ),
    ...[...tally.facts].map(([key, value]): [Figure, number] => [
      { section: 'facts', key: [key], measure: 'facts' },
      value,
    ]),
    ...[...tally.held].map(([key, value]): [Figure, number] => [
      { section: 'held', key: [key], measure: 'downloads' },
      value,
    ]),
  ];
}

/** Sections in reading order. */
const sections: readonly Figure['section'][] = ['podcasts', 'episodes', 'days', 'ads', 'facts', 'held'];
const place = ({ section, window, key, measure }: Figure) =>
  JSON.stringify([window === undefined ? 9 : windows.indexOf(window), sections.indexOf(section), key, measure]);

/**
 * Sets every number of two tallies side by side. A number that one of them lacks is 0.
 * @param tolerance the greatest difference that still agrees, as a part of the stored number: 0 for a recount of our own facts, 0.05 between
 *   different counters (docs/counting.md#recount-it-yourself)
 */
export function compareTallies(
  stored: Tally,
  recounted: Tally,
  shown: readonly Window[],
  tolerance: number,
): ComparedFigure[] {
  const before = new Map(figuresOf(stored, shown).map(([figure, value]) => [place(figure), { figure, value }]));
  const after = new Map(figuresOf(recounted, shown).map(([figure, value]) => [place(figure), { figure, value }]));
  return [...new Set([...before.keys(), ...after.keys()])].sort().map((key) => {
    const { figure } = (before.get(key) ?? after.get(key))!;
    const numbers = { stored: before.get(key)?.value ?? 0, recounted: after.get(key)?.value ?? 0 };
    return {
      ...figure,
      ...numbers,
      differs: Math.abs(numbers.recounted - numbers.stored) > tolerance * numbers.stored,
    };
  });
}
