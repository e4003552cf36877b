import { expect, test } from '@jest/globals';
import { readEvidence, type ListEvidenceRows } from './read-evidence.ts';

const at = (text: string) => Date.parse(`${text}:00Z`);
const source: Parameters<typeof readEvidence>[2] = {
  ...{ kind: 'platform_reported', name: 'player', evidence_id: `pev_${'0'.repeat(26)}`, metric: 'impressions' },
  ...{ counting_basis: 'client_event', time_zone: 'America/New_York' },
};
const row = (sourceId: string, text: string, impressions: bigint | undefined) => ({
  ...{ sourceId, atMs: BigInt(at(text)), impressions },
});
const rows = [
  row('P-1', '2026-10-02T02:00', 40n),
  row('P-1', '2026-10-01T20:00', 60n),
  row('P-2', '2026-10-02T12:00', 5n),
  row('P-2', '2026-10-02T13:00', undefined),
  row('P-2', '2026-12-01T00:00', 9n),
];
const list: ListEvidenceRows = async ({ firstRow, limit }) => ({ rows: rows.slice(firstRow, firstRow + limit) });
const about = { fromMs: at('2026-10-01T04:00'), toMs: at('2026-11-01T04:00'), signal: new AbortController().signal };

test('hours of a platform become days of its zone; rows without the metric and outside of the period are left out', async () => {
  expect(await readEvidence(list, 'ws_1', source, { ...about, granularity: 'hour' })).toEqual({
    rows: [
      { line: 1, lineItem: 'P-1', day: '2026-10-01', units: 100 },
      { line: 3, lineItem: 'P-2', day: '2026-10-02', units: 5 },
    ],
  });
});

test('a report by months, and one whose zone is not known, have one sum for each id', async () => {
  const { time_zone: _zone, ...zoneless } = source;
  for (const [one, granularity] of [
    [source, 'month'],
    [zoneless, 'hour'],
  ] as const)
    expect(await readEvidence(list, 'ws_1', one, { ...about, granularity })).toEqual({
      rows: [
        { line: 1, lineItem: 'P-1', units: 100 },
        { line: 3, lineItem: 'P-2', units: 5 },
      ],
    });
});

test('a report of more ids and days than a file has rows is refused, before all of it is in memory', async () => {
  const { time_zone: _zone, ...zoneless } = source;
  let pages = 0;
  const endless: ListEvidenceRows = async ({ firstRow, limit }) => {
    pages += 1;
    return { rows: Array.from({ length: limit }, (_, nth) => row(`P-${firstRow + nth}`, '2026-10-02T02:00', 1n)) };
  };
  expect(await readEvidence(endless, 'ws_1', zoneless, { ...about, granularity: 'day' })).toEqual({
    findings: [expect.objectContaining({ code: 'too_many_rows' })],
  });
  expect(pages).toBe(201);
});
