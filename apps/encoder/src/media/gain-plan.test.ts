import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isOnTarget, planGain, reviseGain, type Loudness } from './gain-plan.ts';

test('a gain that leaves room for its peaks needs no limiter; silence needs nothing', () => {
  expect(planGain({ lufs: -20, truePeakDbtp: -9 }, -16)).toEqual({ gainDb: 4 });
  expect(planGain({ lufs: -10, truePeakDbtp: 0 }, -16)).toEqual({ gainDb: -6 });
  expect(planGain({ lufs: -24, truePeakDbtp: -3 }, -16)).toEqual({ gainDb: 8, ceilingDb: -1.8 });
  expect(planGain({ lufs: null, truePeakDbtp: null }, -16)).toEqual({ gainDb: 0 });
  expect(planGain({ lufs: null, truePeakDbtp: 0 }, -16)).toEqual({ gainDb: 0, ceilingDb: -1.8 });
});

test('a result is on target within 0.5 LU and below −1 dBTP', () => {
  const source: Loudness = { lufs: -20, truePeakDbtp: -6 };
  const target = { lufs: -16, toleranceLu: 0.5 };
  expect(isOnTarget({ lufs: -16.5, truePeakDbtp: -1.1 }, source, target)).toBe(true);
  expect(isOnTarget({ lufs: -16.6, truePeakDbtp: -1.1 }, source, target)).toBe(false);
  expect(isOnTarget({ lufs: -16, truePeakDbtp: -1 }, source, target)).toBe(false);
  expect(isOnTarget({ lufs: null, truePeakDbtp: null }, { lufs: null, truePeakDbtp: null }, target)).toBe(true);
});

test('a revision lowers the ceiling when peaks passed and raises the gain when loudness is missing', () => {
  const decibels = (min: number, max: number) =>
    fc.integer({ min: min * 10, max: max * 10 }).map((tenths) => tenths / 10);
  fc.assert(
    fc.property(
      decibels(-40, -5),
      decibels(-6, 3),
      decibels(-30, -10),
      decibels(-6, 2),
      (lufs, peak, resultLufs, resultPeak) => {
        const source = { lufs, truePeakDbtp: peak };
        const result = { lufs: resultLufs, truePeakDbtp: resultPeak };
        const plan = planGain(source, -16);
        const next = reviseGain(plan, result, source, { lufs: -16, toleranceLu: 0.5 });
        if (resultLufs < -16.6) expect(next.gainDb).toBeGreaterThan(plan.gainDb);
        if (resultLufs > -15.4) expect(next.gainDb).toBeLessThan(plan.gainDb);
        if (resultPeak > -1 && next.ceilingDb !== undefined && plan.ceilingDb !== undefined)
          expect(next.ceilingDb).toBeLessThan(plan.ceilingDb);
      },
    ),
  );
});
