import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers: object; readonly content?: object }>
  >;
}
const document = openApiDocument();
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({ path, method, ...operation })),
);

describe('the OpenAPI document', () => {
  test('needs no credential and is the exported one', async () => {
    const response = await fetch(`${gateway.url}/api/v1/docs`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('is served packed to whom takes it, and not at all to whom has it', async () => {
    const read = (headers: Record<string, string>) =>
      new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
        request(`${gateway.url}/api/v1/docs`, { headers }, async (response) => {
          const parts: Buffer[] = [];
          for await (const part of response) parts.push(part as Buffer);
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) });
        })
          .once('error', reject)
          .end();
      });
    const packed = await read({ 'accept-encoding': 'gzip' });
    const plain = await read({});
    expect([packed.headers['content-encoding'], plain.headers['content-encoding']]).toEqual(['gzip', undefined]);
    expect(gunzipSync(packed.body)).toEqual(plain.body);
    expect(packed.headers['etag']).not.toBe(plain.headers['etag']);
    const again = await read({ 'if-none-match': String(plain.headers['etag']) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
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

  test('says for every status what it means, and declares every parameter of its path', () => {
    for (const { path, parameters, responses } of operations) {
      for (const [status, { description }] of Object.entries(responses))
        expect([path, status, description]).not.toContain('');
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  test('declares no body where there is none: 204, 304, and what the contract wants empty', () => {
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

  test('marks every older path as deprecated, with the headers that say so', () => {
    for (const { path, deprecated = false, responses } of operations) {
      expect([path, deprecated]).toEqual([path, path.includes('/statistics')]);
      for (const { headers } of Object.values(responses))
        if (deprecated) expect(Object.keys(headers)).toEqual(expect.arrayContaining(['Deprecation', 'Sunset', 'Link']));
    }
  });

  test('gives each path of /analytics its older twin, with the same parameters and answers', () => {
    const newer = operations.filter(({ path }) => path.includes('/analytics'));
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

  test('documents the address of a production that was created in its refusals', () => {
    const { responses } = operations.find(({ operationId }) => operationId === 'productionCreate')!;
    for (const status of [402, 409, 422, 500, 503])
      expect(responses).toHaveProperty(`${status}.headers.Location.description`);
    expect(responses).not.toHaveProperty('401.headers.Location');
  });
});

test('the page lists every operation and loads nothing from elsewhere', async () => {
  const response = await fetch(`${gateway.url}/api-docs`);
  const page = await response.text();
  for (const { path, method } of operations)
    expect(page).toContain(`<b>${method.toUpperCase()}</b> <code>${path}</code>`);
  expect(page).not.toMatch(/(src|href)="https?:/);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
});
