import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import { openCursor, sealCursor } from './cursor.ts';

const key = randomBytes(32);
const now = new Date('2026-11-21T12:00:00Z');
const position = { sortValues: ['2026-11-20T08:00:00.123Z'], id: 'ep_1' };
const hourMs = 3600_000;
const later = (durationMs: number) => new Date(now.getTime() + durationMs);

function refusal(open: () => unknown): string {
  try {
    open();
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return 'opened';
}

test('a sealed position opens for the same listing during 24 hours', () => {
  const cursor = sealCursor(key, 'listing', position, now);
  expect(openCursor(key, 'listing', cursor, now)).toEqual(position);
  expect(openCursor(key, 'listing', cursor, later(24 * hourMs))).toEqual(position);
  expect(refusal(() => openCursor(key, 'listing', cursor, later(24 * hourMs + 1)))).toBe('invalid_cursor');
});

test('a cursor reads as nothing and never comes twice', () => {
  const cursor = sealCursor(key, 'listing', position, now);
  expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(Buffer.from(cursor, 'base64url').includes('ep_1')).toBe(false);
  expect(sealCursor(key, 'listing', position, now)).not.toBe(cursor);
});

test('the cursor of another listing or of another key is refused', () => {
  const cursor = sealCursor(key, 'listing', position, now);
  expect(refusal(() => openCursor(key, 'other listing', cursor, now))).toBe('invalid_cursor');
  expect(refusal(() => openCursor(randomBytes(32), 'listing', cursor, now))).toBe('invalid_cursor');
});

test('a cursor cut anywhere, or with any one byte changed, is refused', () => {
  const sealed = Buffer.from(sealCursor(key, 'listing', position, now), 'base64url');
  const open = (bytes: Buffer) => refusal(() => openCursor(key, 'listing', bytes.toString('base64url'), now));
  for (let i = 0; i < sealed.length; i += 1) {
    expect(open(sealed.subarray(0, i))).toBe('invalid_cursor');
    const changed = Buffer.from(sealed);
    changed[i] = changed[i]! ^ 1;
    expect(open(changed)).toBe('invalid_cursor');
  }
});

test.each(['', 'null', '💥', '../../etc/passwd', 'A'.repeat(100)])('the text %j is refused', (text) => {
  expect(refusal(() => openCursor(key, 'listing', text, now))).toBe('invalid_cursor');
});
