import { expect, test } from '@jest/globals';
import { keepMsOf, maxKeepMs } from './keep-time.ts';

const now = new Date('2026-11-23T12:00:00.000Z');
const inMs = (ms: number) => new Date(now.getTime() + ms);
const active = { subscription: { state: 'active' as const } };
const trial = { subscription: { state: 'trialing' as const, trial_ends_at: inMs(900).toISOString() } };

test.each([
  ['without an end', { account: active }, undefined, maxKeepMs],
  ['until the credential ends', { account: active, expires_at: inMs(700).toISOString() }, inMs(800), 700],
  ['until the first grant ends', { account: active, expires_at: inMs(60_000).toISOString() }, inMs(800), 800],
  ['until the trial ends', { account: trial }, undefined, 900],
  ['until a use is recorded again', { account: active, lastUsedAt: inMs(-59_400) }, undefined, 600],
  ['after a use that is recorded now', { account: active, lastUsedAt: inMs(-60_000) }, undefined, maxKeepMs],
])('a principal is kept %s', (_name, credential, grantsEndAt, ms) => {
  expect(keepMsOf(credential, grantsEndAt, now)).toBe(ms);
});
