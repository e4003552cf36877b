import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../src/docs/openapi-document.ts';
import { routes } from '../src/routes.ts';
import { goldenCases, startGateway, type GatewayUnderTest, type GoldenCase } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const paths = openApiDocument().paths as Record<
  string,
  Record<string, { responses: Record<string, unknown> }> | undefined
>;

/** The route of a request as OpenAPI finds it: a path without `{id}` before one with it. */
function routeOf({ method, path }: GoldenCase['request']) {
  const bare = path.split('?')[0]!;
  const fixed = routes.filter((route) => route.path === bare);
  const matching = routes.filter((route) => new RegExp(`^${route.path.replace('{id}', '[^/]+')}$`).test(bare));
  return (fixed.length > 0 ? fixed : matching).find((route) => route.method === method);
}

function send({ request, credential = 'owner' }: GoldenCase): Promise<Response> {
  const { json, form, text } = request;
  const body = json !== undefined ? JSON.stringify(json) : (form ?? text);
  const type = form !== undefined ? 'application/x-www-form-urlencoded' : 'application/json';
  return fetch(`${gateway.url}/api/v1${request.path}`, {
    method: request.method,
    headers: {
      ...(credential !== null && { Token: credential }),
      ...(body !== undefined && { 'content-type': type }),
      ...request.headers,
    },
    ...(body !== undefined && { body }),
  });
}

describe('the contract', () => {
  test.each(goldenCases.map((golden) => [golden.name, golden] as const))('%s', async (_name, golden) => {
    await gateway.reset(golden.given);
    const response = await send(golden);
    const text = await response.text();
    const { status, headers = {}, body, text: exact, commands } = golden.expect;

    expect({ status: response.status, body: body === undefined ? undefined : JSON.parse(text) }).toEqual({
      status,
      body,
    });
    for (const [name, value] of Object.entries(headers))
      expect([name, response.headers.get(name)]).toEqual([name, value]);
    if (exact !== undefined) expect(text).toBe(exact);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
    if (commands)
      expect(
        gateway.scene.commands.map(({ commandType, workspaceId, subjectId, changesJson, idempotencyKey }, index) => ({
          type: commandType,
          ...(commands[index]?.workspace !== undefined && { workspace: workspaceId }),
          ...(subjectId && { subject: subjectId }),
          changes: JSON.parse(changesJson) as unknown,
          ...(commands[index]?.key !== undefined && { key: idempotencyKey }),
        })),
      ).toEqual(commands);

    const route = routeOf(golden.request);
    if (route?.answer === 'empty' && status === route.status)
      expect([text, response.headers.get('content-type')]).toEqual(['', null]);
    if (route) expect(Object.keys(paths[route.path]![route.method.toLowerCase()]!.responses)).toContain(String(status));
    if (status === route?.otherAnswer?.status) route.otherAnswer.answer.schema.parse(JSON.parse(text));
    if (route && typeof route.answer === 'object' && status === route.status) {
      const { list, schema } = route.answer;
      const filtered = golden.request.path.includes('fields_filter');
      const shown = JSON.parse(text) as unknown;
      for (const item of list ? (shown as unknown[]) : [shown]) (filtered ? schema.partial() : schema).parse(item);
    }
  });

  test('every route of the table has at least one golden case that succeeds', () => {
    const seen = new Set(
      goldenCases.filter(({ expect }) => expect.status < 300).map(({ request }) => routeOf(request)),
    );
    const missing = routes
      .filter((route) => route.answer !== 'events' && !seen.has(route))
      .map(({ method, path }) => `${method} ${path}`);
    expect(missing).toEqual([]);
  });
});
