import { expect, test } from '@jest/globals';
import { planStep } from './plan-step.ts';

const releases = ['0.5.0', '0.6.0', '0.7.0', '0.10.0'];
const refused = (because: string) => ({ kind: 'refused', because: expect.stringContaining(because) });

test.each([
  ['0.6.0', '0.7.0', false, { kind: 'forward' }],
  ['0.7.0', '0.10.0', false, { kind: 'forward' }],
  ['0.7.0', '0.7.1', false, { kind: 'forward' }],
  ['0.10.0', '0.11.0', false, { kind: 'forward' }],
  [undefined, '0.7.0', false, { kind: 'forward' }],
  ['0.7.0', '0.7.0', false, { kind: 'same' }],
  ['0.6.0', '0.10.0', false, refused('Go to version 0.7.0 first')],
  [undefined, '0.10.0', false, refused('Go to version 0.7.0 first')],
  ['0.10.0', '0.7.0', false, refused('add --back')],
  ['0.10.0', '0.7.0', true, { kind: 'back' }],
  ['0.6.0', '0.7.0', true, refused('leads nowhere')],
  ['0.7.0', '0.7.0', true, refused('leads nowhere')],
] as const)('from data of %s to release %s (back: %s): %j', (from, own, goesBack, expected) => {
  expect(planStep(from, own, releases, { goesBack })).toEqual(expected);
});
