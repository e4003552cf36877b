import { expect, test } from '@jest/globals';
import { chooseFollowers } from './dead-letter-commands.ts';

const running = [
  { topic: 'product.events', group: 'management' },
  { topic: 'product.events', group: 'public-delivery' },
  { topic: 'delivery.facts', group: 'analytics-sink' },
];
const choose = (options: { readonly topic?: string; readonly group?: string }) =>
  chooseFollowers(options, async () => running);

test('a follower is named whole, though it does not run, or by a part that those that run have', async () => {
  expect(await choose({ topic: 'product.events', group: 'gone' })).toEqual([
    { topic: 'product.events', group: 'gone' },
  ]);
  expect(await choose({ topic: 'product.events' })).toEqual(running.slice(0, 2));
  expect(await choose({})).toEqual(running);
});

test('a misspelt topic is refused instead of having no dead letters', async () => {
  for (const group of [undefined, 'management'])
    await expect(choose({ topic: 'product.event', ...(group && { group }) })).rejects.toThrow(
      'There is no topic “product.event”. Did you mean “product.events”?',
    );
});
