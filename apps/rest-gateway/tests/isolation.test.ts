import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog, type CommandDefinition } from '@longwave/command-catalog';
import { hiddenStates, isTerminal } from '@longwave/hosting-client';
import type { Route } from '../src/route.ts';
import { routes } from '../src/routes.ts';
import { fixtures, startGateway, type GatewayUnderTest } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const own = 'ws_0000000000000000000000000a';
const withObject = routes.filter((route) => route.object);

/** A request to a route about one object, in which only the object is valid. */
function ask(route: Route, id: string, credential: string) {
  const { from, field } = route.object!;
  const path = route.path.replace('{id}', id) + (from === 'query' ? `?${field}=${id}` : '');
  return fetch(`${gateway.url}/api/v1${path}`, {
    method: route.method,
    headers: { Token: credential, ...(route.body && { 'content-type': 'application/json' }) },
    ...(route.body && { body: JSON.stringify(from === 'body' ? { [field]: id, wrong: 1 } : { wrong: 1 }) }),
  });
}

/** Everything that a client sees, without the ids of the object and of the request. */
async function answerTo(route: Route, id: string, credential: string) {
  const response = await ask(route, id, credential);
  const headers = Object.fromEntries(response.headers);
  for (const name of ['x-request-id', 'date', 'ratelimit-remaining']) delete headers[name];
  const hidden = (text: string) => text.replaceAll(id, '{id}');
  if (headers['link']) headers['link'] = hidden(headers['link']);
  return { status: response.status, headers, text: hidden(await response.text()) };
}

const named = (route: Route) => [`${route.method} ${route.path}`, route] as const;

test.each(withObject.map(named))(
  '%s answers for an object of someone else as for none at all',
  async (_name, route) => {
    await gateway.reset();
    const { type } = route.object!;
    const { noun, prefix } = productCatalog.resources[type];
    const absent = `${prefix}_${'z'.padStart(26, '0')}`;
    const foreign = Object.values(fixtures).filter((one) => one.resource_type === type && one.workspace_id !== own);
    expect(foreign).not.toEqual([]);
    const missing = await answerTo(route, absent, 'owner');
    expect(missing).toMatchObject({
      status: 404,
      text: JSON.stringify({ code: 404, message: `The ${noun} with id {id} could not be found.` }),
    });
    for (const { id } of foreign) expect(await answerTo(route, id, 'owner')).toEqual(missing);
    const ended = Object.values(fixtures).filter((one) => one.resource_type === type && isTerminal(one));
    for (const { id } of ended) expect(await answerTo(route, id, 'owner')).toEqual(missing);
    // A grant for one podcast gives nothing in the rest of its workspace.
    const others = Object.values(fixtures).filter(({ links, id, resource_type }) => {
      const ofPodcast = resource_type === 'podcasts' ? id : links['podcast'];
      return resource_type === type && ofPodcast !== undefined && ofPodcast !== 'pod_0000000000000000000000000a';
    });
    for (const { id } of others) expect((await answerTo(route, id, 'collaborator')).status).toBe(404);
    expect(gateway.scene.commands).toEqual([]);
  },
);

test('no command starts from a state that REST hides, so that none is accepted for an object that answers 404', () => {
  const commands: readonly CommandDefinition[] = Object.values(productCatalog.commands);
  expect(commands.filter(({ from }) => from?.some((state) => hiddenStates.has(state)))).toEqual([]);
});

test('lists of one account contain nothing of another', async () => {
  for (const credential of ['owner', 'stranger', 'rich', 'collaborator']) {
    const podcasts = (await (await gateway.get('/podcasts', credential)).json()) as { id: string }[];
    const seen = { owner: ['a', 'b'], stranger: ['c'], rich: ['e'], collaborator: ['a'] }[credential]!;
    expect(podcasts.map(({ id }) => id.at(-1))).toEqual(seen);
  }
});
