import { expect, test } from '@jest/globals';
import { wholeTracks } from '@longwave/audience';
import { deliveryFactSchema } from '@longwave/events';
import { encodeLine, toFactLine } from '../facts/fact-line.ts';
import { describeTrack } from './describe-track.ts';

const at = new Date('2026-11-02T10:00:00Z');
/** Cells of 3 s of 192 kbit/s. */
const cellsOf = (hours: number) =>
  Array.from(
    { length: hours * 1200 },
    (_, nth) => [605 + nth * 72_000, 72_000, nth * 144_000, 144_000] as [number, number, number, number],
  );

test.each([
  [0.1, 'audio'],
  [3, 'video'],
  [24, 'iframe'],
] as const)(
  'a track of %d h of %s is described by facts of at most 200 kB, which give all its cells',
  (hours, media) => {
    const cells = cellsOf(hours);
    const index = { timescale: 48_000, init: 605, bytes: 605 + cells.length * 72_000, cells };
    const facts = describeTrack({ digest: 'd'.repeat(64), media, reader: { index } }, at);
    for (const fact of facts) {
      expect(deliveryFactSchema.safeParse(fact).success).toBe(true);
      expect(encodeLine(toFactLine(fact)).length).toBeLessThan(200_000);
    }
    expect(new Set(facts.map((fact) => fact.fact_id)).size).toBe(Math.ceil(cells.length / 4_000));
    const whole = [['d'.repeat(64), { media, timescale: 48_000, cells }]];
    expect(JSON.stringify([...wholeTracks(facts.toReversed())])).toBe(JSON.stringify(whole));
  },
);
