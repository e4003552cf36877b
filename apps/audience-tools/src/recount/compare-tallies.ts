import { windows, type Window } from '@longwave/audience';
import { keyParts, placeLevels, type Tally } from './tally.ts';

/** One number of a tally. */
interface Figure {
  readonly section: 'podcasts' | 'episodes' | 'days' | 'ads' | 'facts' | 'held';
  /** Of downloads and listeners. */
  readonly window?: Window;
  /** Ids, from workspace to the narrowest; a reason code for facts and held downloads. */
  readonly key: readonly string[];
  readonly measure: string;
}

/** A number that two counters have, or one of them. */
export interface ComparedFigure extends Figure {
  readonly stored: number;
  readonly recounted: number;
  /** Whether they are further apart than the tolerance allows. */
  readonly differs: boolean;
}

/** Every number of a tally. */
function figuresOf(tally: Tally, asked: readonly Window[]): (readonly [Figure, number])[] {
  const measures = (numbers: object) => Object.entries(numbers) as [string, number][];
  return [
    ...asked.flatMap((window) =>
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

/** Sorts by section in reading order, then window, then key. */
const sections: readonly Figure['section'][] = ['podcasts', 'episodes', 'days', 'ads', 'facts', 'held'];
const place = ({ section, window, key, measure }: Figure) =>
  JSON.stringify([window === undefined ? 9 : windows.indexOf(window), sections.indexOf(section), key, measure]);

/**
 * Sets every number of two tallies side by side. A number that one of them lacks is 0.
 * @param tolerance greatest difference that is none, as part of the stored number: 0 for a recount of our own facts, 0.05 between
 *   counters (measurement.md D15)
 */
export function compareTallies(
  stored: Tally,
  recounted: Tally,
  asked: readonly Window[],
  tolerance: number,
): ComparedFigure[] {
  const before = new Map(figuresOf(stored, asked).map(([figure, value]) => [place(figure), { figure, value }]));
  const after = new Map(figuresOf(recounted, asked).map(([figure, value]) => [place(figure), { figure, value }]));
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
