import { z } from 'zod';
import type { Route } from '../route.ts';
import { routes as restRoutes } from '../routes.ts';

type Json = Record<string, unknown>;

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  return rest;
};

const descriptions: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  304: 'Unchanged since the tag in If-None-Match.',
  400: 'The body could not be read.',
  401: 'Missing or wrong credential, plan without API access, or suspended subscription.',
  402: 'Not enough encoding time left.',
  403: 'The credential may not do this.',
  404: 'The object does not exist or is not visible to the credential.',
  409: 'The idempotency key names another payload, or its first request still runs.',
  412: 'The object has another version than If-Match says.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body is neither JSON nor a form.',
  422: 'Validation failed, or the state does not allow this; the message says why.',
  429: 'Rate limit exceeded.',
  500: 'Unhandled error; repeat later.',
  503: 'A dependency is not available (repeat later), or this client is blocked.',
};

/** Every error status that a route can answer with. */
function errorStatuses(route: Route): number[] {
  const always = [401, 429, 500, 503];
  const writes = route.method === 'GET' ? [] : [400, 403, 413, 415, 422];
  const commands = route.command ? [409] : [];
  const guarded = route.command && route.object?.from === 'path' ? [412] : [];
  const found = route.object ? [404] : [];
  return [...new Set([...always, ...writes, ...commands, ...guarded, ...found, ...route.refusals, 422])].sort(
    (a, b) => a - b,
  );
}

const header = (name: string, description: string) => ({ name, in: 'header', description, schema: { type: 'string' } });

/** Only single resources carry a tag. */
const isTagged = ({ method, answer, object }: Route) =>
  method === 'GET' && answer !== 'events' && !answer.list && object?.from === 'path';

function parameters(route: Route): Json[] {
  const path = route.path.includes('{id}')
    ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
    : [];
  const { properties = {}, required = [] } = jsonSchema(route.query, 'input') as {
    properties?: Json;
    required?: string[];
  };
  const query = Object.entries(properties).map(([name, schema]) => ({
    name: (schema as Json)['type'] === 'array' ? `${name}[]` : name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
  return [
    ...path,
    ...query,
    ...(route.command
      ? [header('Idempotency-Key', 'Names this write: a retry with the same key is the same write.')]
      : []),
    ...(route.command && route.object?.from === 'path' ? [header('If-Match', 'ETag of the version you saw.')] : []),
    ...(isTagged(route) ? [header('If-None-Match', 'ETag of what you have.')] : []),
  ];
}

function requestBody(body: z.ZodObject | undefined): Json {
  if (!body) return {};
  const schema = jsonSchema(body, 'input');
  const required = ((schema['required'] as string[] | undefined) ?? []).length > 0;
  const content = { 'application/json': { schema }, 'application/x-www-form-urlencoded': { schema } };
  return { requestBody: { required, content } };
}

function success({ answer }: Route): Json {
  if (answer === 'events') return { 'text/event-stream': { schema: { type: 'string' } } };
  const reference = { $ref: `#/components/schemas/${answer.name}` };
  return { 'application/json': { schema: answer.list ? { type: 'array', items: reference } : reference } };
}

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
const throttledContent = { 'text/plain': { schema: { type: 'string', const: 'Throttled' } } };

function operation(route: Route): Json {
  const headers = Object.entries(route.refusalHeaders).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  const errors = errorStatuses(route).map((status) => [
    status,
    {
      description: descriptions[status],
      ...(headers.length > 0 && route.refusals.includes(status) && { headers: Object.fromEntries(headers) as Json }),
      content: status === 429 ? throttledContent : errorContent,
    },
  ]);
  return {
    operationId: route.operation,
    summary: route.summary,
    tags: [route.path.split('/')[1]],
    parameters: parameters(route),
    ...requestBody(route.body),
    responses: {
      [route.status]: { description: descriptions[route.status], content: success(route) },
      ...(isTagged(route) && { 304: { description: descriptions[304] } }),
      ...Object.fromEntries(errors),
    },
  };
}

const errorSchema = {
  type: 'object',
  properties: {
    code: { type: 'integer', description: 'Equal to the HTTP status.' },
    message: { type: 'string' },
    reason: { enum: ['unknown_user', 'api_access_not_available', 'suspended_subscription'] },
  },
  required: ['code', 'message'],
  additionalProperties: false,
};

/** The OpenAPI 3.1 document of REST API v1, derived from the route table. */
export function openApiDocument(routes: readonly Route[] = restRoutes) {
  const paths: Record<string, Json> = {};
  const schemas: Record<string, Json> = { Error: errorSchema };
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
    if (route.answer !== 'events') schemas[route.answer.name] ??= jsonSchema(route.answer.schema, 'output');
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Longwave REST API', version: '1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] }, { token: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        token: { type: 'apiKey', in: 'header', name: 'Token' },
      },
    },
  };
}

export type OpenApiDocument = ReturnType<typeof openApiDocument>;
