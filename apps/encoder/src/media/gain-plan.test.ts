import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isOnTarget, planGain, reviseGain, type SourceLoudness } from './gain-plan.ts';

test('a gain that leaves room for its peaks needs no limiter; silence needs nothing', () => {
  expect(planGain({ lufs: -20, samplePeakDbfs: -9 }, -16)).toEqual({ gainDb: 4 });
  expect(planGain({ lufs: -10, samplePeakDbfs: 0 }, -16)).toEqual({ gainDb: -6 });
  expect(planGain({ lufs: -24, samplePeakDbfs: -3 }, -16)).toEqual({ gainDb: 8, ceilingDb: -2.2 });
  expect(planGain({ lufs: null, samplePeakDbfs: null }, -16)).toEqual({ gainDb: 0 });
  expect(planGain({ lufs: null, samplePeakDbfs: 0 }, -16)).toEqual({ gainDb: 0, ceilingDb: -2.2 });
});

test('a result is on target within 0.5 LU and below −1 dBTP', () => {
  const source: SourceLoudness = { lufs: -20, samplePeakDbfs: -6 };
  const target = { lufs: -16, toleranceLu: 0.5 };
  expect(isOnTarget({ lufs: -16.5, truePeakDbtp: -1.1 }, source, target)).toBe(true);
  expect(isOnTarget({ lufs: -16.6, truePeakDbtp: -1.1 }, source, target)).toBe(false);
  expect(isOnTarget({ lufs: -16, truePeakDbtp: -1 }, source, target)).toBe(false);
  expect(isOnTarget({ lufs: null, truePeakDbtp: null }, { lufs: null, samplePeakDbfs: null }, target)).toBe(true);
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
        const source = { lufs, samplePeakDbfs: peak };
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
