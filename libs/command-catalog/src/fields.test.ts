import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { isLegalText, longText, reference, shortText, timeWindow, webUrl } from './fields.ts';

test('an id of the right kind is a reference, any other text is not', () => {
  expect(reference('ep').safeParse(newId('ep')).success).toBe(true);
  for (const text of [newId('pod'), `x${newId('ep')}`, `${newId('ep')}\n`, 'ep_1', ''])
    expect(reference('ep').safeParse(text).success).toBe(false);
});

test('a window ends after it starts', () => {
  const [early, late] = ['2026-11-21T12:00:00Z', '2026-11-21T12:00:01Z'];
  expect(timeWindow.safeParse({ start: early, end: late }).success).toBe(true);
  expect(timeWindow.safeParse({ start: early, end: early }).success).toBe(false);
  expect(timeWindow.safeParse({ start: late, end: early }).success).toBe(false);
  expect(timeWindow.safeParse({ start: early, end: '2026-11-21T14:00:01+02:00' }).success).toBe(false);
});

test('a short text is one trimmed line of 1 to 255 characters', () => {
  expect(shortText.parse('  One  ')).toBe('One');
  expect(shortText.safeParse('x'.repeat(255)).success).toBe(true);
  for (const text of ['', '   ', 'x'.repeat(256), 'one\ntwo']) expect(shortText.safeParse(text).success).toBe(false);
});

test('a long text is measured in bytes, not characters', () => {
  expect(longText.safeParse('é'.repeat(2000)).success).toBe(true);
  expect(longText.safeParse('é'.repeat(2001)).success).toBe(false);
});

test('control characters and half surrogates are illegal text; tab, line ends and emoji are not', () => {
  for (const text of ['', 'tab\tline\r\n', 'Ljud 🎧', '\u0080']) expect(isLegalText(text)).toBe(true);
  for (const text of ['\u0000', 'a\u001fb', '\u007f', '\ud83c', '\udfa7']) expect(isLegalText(text)).toBe(false);
});

test('an address has no line end and no tab, neither inside nor around it', () => {
  for (const text of ['https://a.b/x\r\ny', 'https://a.b/x\ny', 'ht\ttps://a.b/', 'https://a.b/x\n', '\thttps://a.b/x'])
    expect(webUrl.safeParse(text).error?.issues.map(({ message }) => message)).toEqual([
      'Use a web address without line breaks and tabs.',
    ]);
});

test('an address is http or https and not longer than 2000 characters', () => {
  expect(webUrl.safeParse('https://example.com/a').success).toBe(true);
  for (const text of ['javascript:alert(1)', 'file:///etc/passwd', 'example.com', `https://a.b/${'x'.repeat(2000)}`])
    expect(webUrl.safeParse(text).success).toBe(false);
});
