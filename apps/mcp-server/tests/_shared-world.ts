import { afterAll, beforeAll } from '@jest/globals';
import { startWorld, type World } from './_world.ts';

/** The world of the test file that imports this, from its first test on. */
export let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => world?.[Symbol.asyncDispose]());
