import { afterAll, beforeAll } from '@jest/globals';
import { startFollowed, type Followed } from './_followed.ts';

/** Management with its followers, started before the tests of the importing file and ended after them. */
export let management: Followed['management'];
export let bus: Followed['bus'];
export let read: Followed['read'];
export let until: Followed['until'];
export let caughtUp: Followed['caughtUp'];
export let encode: Followed['encode'];

let followed: Followed | undefined;
beforeAll(async () => {
  followed = await startFollowed();
  ({ management, bus, read, until, caughtUp, encode } = followed);
});
afterAll(async () => followed?.[Symbol.asyncDispose]());
