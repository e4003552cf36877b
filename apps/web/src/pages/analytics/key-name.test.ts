import { expect, test } from '@jest/globals';
import { keyName } from './key-name.ts';

test('countries have their name in the language of the page, everything else its own', () => {
  expect([keyName('DE', 'country', 'en'), keyName('DE', 'country', 'de'), keyName('Overcast', 'app', 'de')]).toEqual([
    'Germany',
    'Deutschland',
    'Overcast',
  ]);
  expect([keyName('unknown', 'app', 'en'), keyName('not a code', 'country', 'en')]).toEqual([undefined, 'not a code']);
});
