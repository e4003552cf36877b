import { expect, test } from '@jest/globals';
import { asksForMore, checkWindow, extended, reserved, type LineItem } from './line-item.ts';

const campaign = { start: '1950-01-01T00:00:00Z', end: '9999-12-31T00:00:00Z' };

test('a flight of more than three years, or from before 2000, is refused: every hour of it would have to be planned', () => {
  expect(() => checkWindow({ start: '2026-01-01T00:00:00Z', end: '2028-12-31T00:00:00Z' }, campaign)).not.toThrow();
  expect(() => checkWindow({ start: '2026-01-01T00:00:00Z', end: '9999-12-31T00:00:00Z' }, campaign)).toThrow();
  expect(() => checkWindow({ start: '1999-12-31T00:00:00Z', end: '2000-02-01T00:00:00Z' }, campaign)).toThrow();
});

test('a flight is not extended beyond three years', () => {
  const lineItem = { window: { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' } } as LineItem;
  const extend = (end: string) =>
    extended(lineItem, { end, extensionCause: 'late' }, campaign, new Date('2026-01-15T00:00:00Z'));
  expect(extend('2026-03-01T00:00:00Z').window.end).toBe('2026-03-01T00:00:00Z');
  expect(() => extend('2099-01-01T00:00:00Z')).toThrow();
});

test('a reservation holds at most 30 days', () => {
  const reserve = (expiresAt: string) => reserved({} as LineItem, expiresAt, new Date('2026-01-01T00:00:00Z'));
  expect(reserve('2026-01-31T00:00:00Z').reserved_until).toBe('2026-01-31T00:00:00Z');
  expect(() => reserve('2026-01-31T00:00:01Z')).toThrow();
});

test('an amendment asks for more with another unit, other daily bounds or fewer caps, and not with less or more caps', () => {
  const cap = { max: 1, per: 'listener_bucket', window_seconds: 86_400 } as const;
  const goal = { unit: 'impressions', quantity: 10, daily_max: 5 } as const;
  const asks = (changes: object) => asksForMore({ goal, frequency_caps: [cap] }, changes);
  expect(asks({ goal: { ...goal, unit: 'completes' } })).toBe(true);
  expect(asks({ goal: { ...goal, daily_max: 6 } })).toBe(true);
  expect(asks({ goal: { ...goal, daily_min: 1 } })).toBe(true);
  expect(asks({ frequency_caps: [] })).toBe(true);
  expect(asks({ goal: { ...goal, quantity: 11 } })).toBe(true);
  expect(asks({ goal: { ...goal, quantity: 9 } })).toBe(false);
  expect(
    asks({
      frequency_caps: [
        { window_seconds: 86_400, per: 'listener_bucket', max: 1 },
        { ...cap, per: 'episode' },
      ],
    }),
  ).toBe(false);
});
