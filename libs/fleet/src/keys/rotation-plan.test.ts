import { expect, test } from '@jest/globals';
import { keyKinds, keyNames, type KeyKind } from './key-kinds.ts';
import { planFinish, recordRotation, usedFrom, type RotationRecord } from './rotation-plan.ts';

const now = new Date('2026-11-26T12:00:00Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000).toISOString();
const plan = (
  kind: KeyKind,
  record: RotationRecord,
  { uses = 0, isForced = false, accepted = record.replaced_at.length + 1 } = {},
) => planFinish(kind, record, { now, accepted, uses, isForced });

test.each([
  [[181], { drop: 1, replaced_at: [] }],
  [[10, 181, 400], { drop: 2, replaced_at: [daysAgo(10)] }],
  [[179], { refused: expect.stringContaining('must stay until 2026-11-27T12:00:00.000Z: apps keep') }],
  [[], { refused: expect.stringContaining('nothing to finish') }],
])('keys of addresses that were replaced %j days ago: %j', (days, expected) => {
  expect(plan(keyKinds['delivery-tokens'], { replaced_at: days.map(daysAgo) })).toEqual(expected);
});

test('a key that stays while it is used is dropped when nothing needs it, however young it is', () => {
  const record = { replaced_at: [daysAgo(0)] };
  expect(plan(keyKinds.webhooks, record, { uses: 3 })).toEqual({
    refused: expect.stringMatching(/^3 of what .* still needs it/),
  });
  expect(plan(keyKinds.webhooks, record)).toEqual({ drop: 1, replaced_at: [] });
});

test('a forced finish drops every key before the newest', () => {
  const record = { replaced_at: [daysAgo(1), daysAgo(2)] };
  for (const name of keyNames) {
    const kind: KeyKind = keyKinds[name];
    const expected = kind.former.stays === 'never' ? { refused: expect.any(String) } : { drop: 2, replaced_at: [] };
    expect([name, plan(kind, record, { uses: 5, isForced: true })]).toEqual([name, expected]);
  }
});

test('keys that an interrupted rotation left are ended by a forced finish alone, and nothing ends the newest', () => {
  const [kind, none, one] = [keyKinds['delivery-tokens'], { replaced_at: [] }, { replaced_at: [daysAgo(200)] }];
  const all = { drop: 2, replaced_at: [] };
  expect(plan(kind, none, { accepted: 3 })).toEqual({ refused: expect.stringContaining('interrupted') });
  expect(plan(kind, none, { accepted: 3, isForced: true })).toEqual(all);
  expect(plan(kind, one, { accepted: 3, isForced: true })).toEqual(all);
  expect(plan(kind, one, { accepted: 1 })).toEqual({ drop: 0, replaced_at: [] });
});

test('a rotation keeps the ones before in their order, and none of a key whose former one never stays', () => {
  const first = recordRotation(keyKinds['delivery-tokens'], { replaced_at: [] }, new Date(daysAgo(3)));
  const second = recordRotation(keyKinds['delivery-tokens'], first, now);
  expect(second).toEqual({ made_at: now.toISOString(), replaced_at: [now.toISOString(), daysAgo(3)] });
  expect(recordRotation(keyKinds.receipts, second, now).replaced_at).toEqual([]);
});

test.each([
  ['2026-11-26T12:00:00Z', '2026-12-01T00:00:00.000Z'],
  ['2026-12-31T23:59:59Z', '2027-01-01T00:00:00.000Z'],
])(
  'a master of listener keys that is made at %s is used from %s on, and the one before stays for three days more',
  (at, from) => {
    const made = new Date(at);
    expect(usedFrom(keyKinds.listeners, made).toISOString()).toBe(from);
    const record = recordRotation(keyKinds.listeners, { replaced_at: [] }, made);
    const finishAt = (days: number) =>
      planFinish(keyKinds.listeners, record, {
        now: new Date(Date.parse(from) + days * 86_400_000),
        accepted: 2,
        uses: 0,
        isForced: false,
      });
    expect([finishAt(2.9), finishAt(3)]).toEqual([{ refused: expect.any(String) }, { drop: 1, replaced_at: [] }]);
  },
);
