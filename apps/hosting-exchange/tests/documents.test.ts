import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exchangeOpenApi } from '../src/http/openapi.ts';
import { exchangeRoutes } from '../src/http/routes.ts';
import { startExchange, writer, episodeBody, type Exchange } from './_exchange.ts';

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange[Symbol.asyncDispose]());

test('the contract names version 1.0.0 and every operation, without a token', async () => {
  const host = await exchange.platform();
  const { status, body } = await exchange.request(host, 'GET', '/contract', { token: 'none' });
  expect([status, body['version'], body['name']]).toEqual([200, '1.0.0', 'Hosting Exchange API']);
  const text = JSON.stringify(body);
  for (const { operation } of exchangeRoutes) expect(text).toContain(operation);
});

test('every operation is described with its scope, its answers and its refusals', () => {
  const { paths } = exchangeOpenApi() as unknown as { paths: Record<string, Record<string, { responses: object }>> };
  for (const { path, method, answers, refusals } of exchangeRoutes) {
    const operation = paths[path]![method.toLowerCase()]!;
    const statuses = [...Object.keys(answers), ...refusals.map(String), '401', '403', '429', '503'];
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(statuses));
  }
});

test('every group of operations says what it is about, and the members of a refusal are those that are declared', async () => {
  const document = exchangeOpenApi() as unknown as {
    tags: { name: string }[];
    paths: Record<string, Record<string, { tags: string[] }>>;
    components: { schemas: { Problem: { properties: object } } };
  };
  const used = Object.values(document.paths).flatMap((path) => Object.values(path).flatMap(({ tags }) => tags));
  expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...new Set(used)].toSorted());
  const host = await exchange.platform();
  const one = writer(host, 'show:refused');
  one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  const gap = one.write('content-snapshot/1', 'ep-1', 2, { episode: episodeBody() });
  const refused = await exchange.submit(host, [gap]);
  expect(refused.status).toBe(409);
  const declared = Object.keys(document.components.schemas.Problem.properties);
  expect(Object.keys(refused.body).filter((member) => !declared.includes(member))).toEqual([]);
});

test('a read needs one of the scopes, a write the write scope', async () => {
  const host = await exchange.platform();
  await exchange.submit(host, [writer(host).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() })]);
  const path = `/workspaces/${host.workspaceId}/streams/show:1`;
  const as = async (scope: string) => ({ token: await exchange.tokenOf(host, { scope }) });
  expect((await exchange.request(host, 'GET', path, await as('exchange:read'))).status).toBe(200);
  expect((await exchange.request(host, 'GET', path, await as('exchange:write'))).status).toBe(200);
  expect((await exchange.request(host, 'GET', path, await as('audience:read'))).status).toBe(403);
  const question = { alias: 'a1', surface_id: 'app' };
  const ask = { body: question, ...(await as('exchange:read')) };
  const resolutions = `/workspaces/${host.workspaceId}/delivery-resolutions`;
  const { status, headers } = await exchange.request(host, 'POST', resolutions, ask);
  expect([status, headers.get('www-authenticate')]).toEqual([403, expect.stringContaining('exchange:write')]);
});

test('an authority that is not active, or names another client, can do nothing', async () => {
  const host = await exchange.platform();
  const path = `/workspaces/${host.workspaceId}/streams/show:1`;
  const other = await exchange.request(host, 'GET', path, {
    token: await exchange.tokenOf(host, { client_id: 'other' }),
  });
  expect(other).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  await exchange.pool.query(`update authority set state = 'revoked' where id = $1`, [host.authorityId]);
  expect(await exchange.request(host, 'GET', path)).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
});
