import { expect, test } from '@jest/globals';
import { draftTitle } from './draft-title.ts';

test.each([
  ['The harbour at night.wav', 'The harbour at night'],
  ['the_harbour__at_night.final.mp3', 'the harbour at night.final'],
  ['harbour', 'harbour'],
  ['.wav', '.wav'],
  [`${'a'.repeat(300)}.wav`, 'a'.repeat(255)],
])('a draft of %s is called %s', (filename, title) => {
  expect(draftTitle(filename)).toBe(title);
});
