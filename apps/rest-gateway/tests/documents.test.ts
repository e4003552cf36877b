import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { apiContractSchema } from '@longwave/services';
import { openApiDocument } from '../src/docs/openapi-document.ts';
import { routes } from '../src/routes.ts';
import { startGateway, type GatewayUnderTest } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers: object; readonly content?: object }>
  >;
}
const document = openApiDocument();
/** Those of the route table, without the contract, which stands beside it. */
const operations = Object.entries(document.paths)
  .filter(([path]) => path !== '/contract')
  .flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({ path, method, ...operation })),
  );

test('the contract needs no credential; it lists every route, and what is deprecated with all five facts', async () => {
  const response = await fetch(`${gateway.url}/api/v1/contract`);
  expect(response.status).toBe(200);
  const contract = apiContractSchema.parse(await response.json());
  expect(contract).toMatchObject({ name: 'REST API', version: 'v1', status: 'current' });
  expect(contract.capabilities.map(({ method, path }) => `${method} ${path}`)).toEqual(
    routes.map(({ method, path }) => `${method} ${path}`),
  );
  const older = routes.filter(({ deprecated }) => deprecated).map(({ operation }) => operation);
  expect(older.length).toBeGreaterThan(0);
  expect(contract.deprecations.map(({ operation }) => operation)).toEqual(older);
  const capability = contract.capabilities.filter(({ status }) => status === 'deprecated');
  expect(capability.map(({ operation }) => operation)).toEqual(older);
  expect(contract.deprecations[0]).toEqual({
    operation: older[0],
    deprecated_on: '2026-11-01',
    last_supported_version: 'v1',
    replacement: expect.stringMatching(/^GET .*\/analytics/),
    migration: 'Change the path only; parameters and answers are the same.',
    removal_on: '2028-11-01',
  });
});

describe('the OpenAPI document', () => {
  test('needs no credential and is the exported one', async () => {
    const response = await fetch(`${gateway.url}/api/v1/docs`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('has one operation for each route, with a name of its own', () => {
    expect(operations).toHaveLength(routes.length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
  });

  test('has only references that resolve', () => {
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/(schemas|headers)\/([\w-]+)"/g)];
    expect(names.length).toBeGreaterThan(routes.length);
    for (const [, kind, name] of names)
      expect(document.components[kind as 'schemas' | 'headers']).toHaveProperty(name!);
  });

  test('describes every status, and declares every parameter of its path', () => {
    for (const { path, parameters, responses } of operations) {
      for (const [status, { description }] of Object.entries(responses))
        expect([path, status, description]).not.toContain('');
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  test('declares no body where there is none: 204, 304, and the answers that are empty on purpose', () => {
    const empty = operations.flatMap(({ method, path, responses }) =>
      Object.entries(responses).flatMap(([status, { content }]) => (content ? [] : [`${method} ${path} ${status}`])),
    );
    const expected = routes.flatMap((route) => {
      const at = `${route.method.toLowerCase()} ${route.path}`;
      return [
        ...(route.answer === 'empty' ? [`${at} ${route.status}`] : []),
        ...(route.tagged ? [`${at} 304`] : []),
        ...route.emptyRefusals.filter((status) => status !== 404 || !route.object).map((status) => `${at} ${status}`),
      ];
    });
    expect(empty.toSorted()).toEqual(expected.toSorted());
  });

  test('marks every older path as deprecated, with the headers of a deprecation', () => {
    for (const { path, deprecated = false, responses } of operations) {
      expect([path, deprecated]).toEqual([path, path.includes('/statistics')]);
      for (const { headers } of Object.values(responses))
        if (deprecated) expect(Object.keys(headers)).toEqual(expect.arrayContaining(['Deprecation', 'Sunset', 'Link']));
    }
  });

  test('states the five facts of each deprecation, where the Link of its answers leads', async () => {
    for (const { path, method, operationId, deprecated, description, tags } of operations) {
      if (!deprecated) continue;
      expect(description).toMatch(
        new RegExp(
          `^Deprecated on \\d{4}-\\d\\d-\\d\\d\\. Last supported version: REST API v1\\. Replacement: ${method.toUpperCase()} .*/analytics.*\\. ` +
            `Migration: .+\\. Removal: \\d{4}-\\d\\d-\\d\\d\\.$`,
        ),
      );
      const answer = await fetch(`${gateway.url}/api/v1${path}`, { method: method.toUpperCase() });
      expect(answer.headers.get('link')).toContain(
        `</api-docs#/${tags[0]}/${operationId}>; rel="deprecation"; type="text/html"`,
      );
    }
  });

  test('names a description for every group of operations', () => {
    const described = document.tags.map(({ name }) => name);
    expect(new Set([...operations.flatMap(({ tags }) => tags), 'contract'])).toEqual(new Set(described));
  });

  test('gives each path of /analytics from before the deprecation its older twin, with the same parameters and answers', () => {
    // These were added after the older paths were deprecated.
    const younger = ['/podcasts/{id}/analytics/ads', '/episodes/{id}/analytics/listeners', '/analytics/episodes'];
    const newer = operations.filter(({ path }) => path.includes('/analytics') && !younger.includes(path));
    expect(operations.filter(({ path }) => younger.includes(path))).toHaveLength(younger.length);
    const of = (path: string, method: string) =>
      operations.find((operation) => operation.path === path && operation.method === method);
    for (const { path, method, parameters, responses } of newer) {
      const twin = of(path.replace('/analytics', '/statistics'), method);
      expect(twin?.parameters).toEqual(parameters);
      expect(Object.keys(twin!.responses)).toEqual(Object.keys(responses));
    }
  });

  test('lists If-Match where 412 is possible and 412 only there: on every write and every read with a tag', () => {
    for (const { path, method, parameters, responses } of operations) {
      const { tagged } = routes.find((route) => route.path === path && route.method.toLowerCase() === method)!;
      const takes = parameters.some(({ name }) => name === 'If-Match');
      expect([path, method, takes]).toEqual([path, method, method !== 'get' || tagged]);
      expect([path, method, '412' in responses]).toEqual([path, method, takes]);
    }
  });

  test('promises ETag only where a version is shown', () => {
    const promising = operations.flatMap(({ operationId, responses }) =>
      Object.values(responses).some(({ headers }) => 'ETag' in headers) ? [operationId] : [],
    );
    for (const id of ['podcastGet', 'podcastCreate', 'episodeSetMarkers', 'mediaClipGet'])
      expect(promising).toContain(id);
    for (const id of ['uploadGrant', 'uploadGet', 'legacyExportStart', 'batchEncodingGetLatest', 'accountGet'])
      expect(promising).not.toContain(id);
  });

  test('documents parameters of a body that may come by query, and then needs no body', () => {
    const { parameters, requestBody } = operations.find(({ operationId }) => operationId === 'productionCreate')!;
    const byQuery = parameters.filter((parameter) => parameter['in'] === 'query').map(({ name }) => name);
    expect(byQuery).toEqual(['episode_id', 'file_url', 'publication_flag', 'mode', 'state']);
    expect(requestBody).toMatchObject({ required: false });
  });
});

test('the interactive page names the document, needs no credential and loads nothing from elsewhere', async () => {
  const response = await fetch(`${gateway.url}/api-docs`);
  const page = await response.text();
  expect(page).toContain('data-document="/api/v1/docs"');
  expect(page).not.toMatch(/(src|href)="https?:/);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  for (const [, address] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g))
    expect([address, (await fetch(`${gateway.url}${address}`)).status]).toEqual([address, 200]);
});

test('the root is a page that says what this is and links to what is there, without scripts and for every screen', async () => {
  const response = await fetch(gateway.url);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const page = await response.text();
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? [];
  const digest = createHash('sha256').update(style).digest('base64');
  expect(response.headers.get('content-security-policy')).toContain(
    `default-src 'none'; style-src 'sha256-${digest}';`,
  );
  expect(style).toContain('prefers-color-scheme:dark');
  expect(page).toContain('width=device-width');
  expect(page).not.toMatch(/<script|https?:/);
  const links = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link!);
  // The first three are pages of auth-server.
  const own = links.slice(3);
  const statuses = await Promise.all(own.map(async (link) => [link, (await fetch(gateway.url + link)).status]));
  expect(statuses).toEqual([
    ['/api-docs', 200],
    ['/api/v1/docs', 200],
    ['/api/v1/podcasts', 401],
  ]);
  expect((await fetch(`${gateway.url}/nothing`)).status).toBe(404);
});

test('the front page leads a person to signing up, signing in and the connection of an agent', async () => {
  const text = await (await fetch(`${gateway.url}/`)).text();
  const places = [...text.matchAll(/<a href="([^"]+)">([^<]+)</g)].map(([, href, name]) => [name, href]);
  expect(places.slice(0, 3)).toEqual([
    ['Sign up', '/sign-up'],
    ['Sign in', '/settings'],
    ['Connect an agent', '/settings/connectors'],
  ]);
});
