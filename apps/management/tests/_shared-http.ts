import { afterAll, beforeAll } from '@jest/globals';
import { serveHttp, type HttpWorld } from './_http.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld, type World } from './_world.ts';

/** Management with its API on a port, started before the tests of the importing file and ended after them. */
export let management: TestManagement;
export let api: HttpWorld;
/** A workspace, and a token of its owner. */
export let world: World;
export let token: string;

const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  api = stack.use(await serveHttp(management));
  world = createWorld(management);
  token = api.tokenFor(world.actor);
}, 120_000);
afterAll(() => stack.disposeAsync());
