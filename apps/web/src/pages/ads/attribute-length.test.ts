import { expect, test } from '@jest/globals';
import { attributeLength } from './attribute-length.ts';

test('lengths are read as players show them, windows as people say them, and other numbers stay as they are', () => {
  expect(attributeLength('duration_ms', 30_041, 'en')).toBe('0:30');
  expect(attributeLength('min_gap_ms', 0, 'en')).toBe('0:00');
  expect(attributeLength('min_gap_ms', 400, 'en')).toBe('400 ms');
  expect(attributeLength('window_seconds', 3600, 'en')).toBe('1 hour');
  expect(attributeLength('window_seconds', 86_400, 'de')).toBe('24 Stunden');
  expect(attributeLength('timeout_ms', 1500, 'en')).toBeUndefined();
  expect(attributeLength('priority', 3, 'en')).toBeUndefined();
  expect(attributeLength('duration_ms', 'long', 'en')).toBeUndefined();
});
