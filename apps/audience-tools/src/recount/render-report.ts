import type { Window } from '@longwave/audience';
import type { ComparedFigure } from './compare-tallies.ts';
import { renderTable } from '../files/render-table.ts';
import { keyParts, type Counted, type Tally } from './tally.ts';

const sorted = <V>(numbers: ReadonlyMap<string, V>) => [...numbers].sort(([a], [b]) => (a < b ? -1 : 1));

const places = [
  { level: 'podcasts', title: 'Podcasts', columns: ['workspace', 'podcast'] },
  { level: 'episodes', title: 'Episodes', columns: ['workspace', 'podcast', 'episode'] },
  { level: 'days', title: 'Days (UTC)', columns: ['workspace', 'podcast', 'episode', 'day'] },
] as const;

/** A tally as tables for people. */
export function renderTally(tally: Tally, shown: readonly Window[]): string {
  const counted = shown.flatMap((window) =>
    places.map(({ level, title, columns }) =>
      renderTable(
        `${title}, window ${window}`,
        [...columns, 'downloads', 'listeners'],
        sorted(tally.windows[window][level]).map(([key, { downloads, listeners }]) => [
          ...keyParts(key),
          downloads,
          listeners,
        ]),
      ),
    ),
  );
  return [
    ...counted,
    renderTable(
      'Ads',
      ['workspace', 'line item', 'delivered', 'billable'],
      sorted(tally.ads).map(([key, { delivered, billable }]) => [...keyParts(key), delivered, billable]),
    ),
    renderTable('Facts', ['judgement', 'facts'], sorted(tally.facts)),
    renderTable('Held downloads', ['reason', 'downloads'], sorted(tally.held)),
  ].join('\n');
}

/** A tally as one JSON value, snake_case. */
export function tallyJson(tally: Tally, shown: readonly Window[]): object {
  const rows = (columns: readonly string[], numbers: ReadonlyMap<string, Counted>) =>
    sorted(numbers).map(([key, counted]) => ({
      ...Object.fromEntries(
        keyParts(key).map((part, index) => [columns[index] === 'day' ? 'day' : `${columns[index]}_id`, part]),
      ),
      ...counted,
    }));
  return {
    windows: Object.fromEntries(
      shown.map((window) => [
        window,
        Object.fromEntries(places.map(({ level, columns }) => [level, rows(columns, tally.windows[window][level])])),
      ]),
    ),
    ads: sorted(tally.ads).map(([key, counted]) => {
      const [workspace_id, line_item_id] = keyParts(key);
      return { workspace_id, line_item_id, ...counted };
    }),
    facts: Object.fromEntries(sorted(tally.facts)),
    held: Object.fromEntries(sorted(tally.held)),
  };
}

/** Two counters side by side, section by section. */
export function renderComparison(figures: readonly ComparedFigure[]): string {
  const bySection = Map.groupBy(figures, ({ section, window }) => `${section}${window ? `, window ${window}` : ''}`);
  return [...bySection]
    .map(([title, own]) =>
      renderTable(
        `${title[0]!.toUpperCase()}${title.slice(1)}`,
        ['what', 'measure', 'stored', 'recounted', 'difference', ''],
        own.map((one) => [
          one.key.join(' '),
          one.measure,
          one.stored,
          one.recounted,
          one.recounted - one.stored,
          one.differs ? '← differs' : '',
        ]),
      ),
    )
    .join('\n');
}
