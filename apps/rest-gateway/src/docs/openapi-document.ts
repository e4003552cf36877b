import { z } from 'zod';
import { takesIfMatch, type Route } from '../route.ts';
import { routes as restRoutes } from '../routes.ts';
import { errorStatuses, headerNotes, headersOf, statusNotes } from './answer-notes.ts';

type Json = Record<string, unknown>;

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  return rest;
};

const header = (name: string, description: string) => ({ name, in: 'header', description, schema: { type: 'string' } });

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
    ...(takesIfMatch(route) ? [header('If-Match', 'ETag of the version you saw.')] : []),
    ...(route.tagged ? [header('If-None-Match', 'ETag of what you have.')] : []),
  ];
}

function requestBody(body: z.ZodObject | undefined): Json {
  if (!body) return {};
  const schema = jsonSchema(body, 'input');
  const required = ((schema['required'] as string[] | undefined) ?? []).length > 0;
  const content = { 'application/json': { schema }, 'application/x-www-form-urlencoded': { schema } };
  return { requestBody: { required, content } };
}

const reference = (kind: 'schemas' | 'headers', name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** An item of a list, of which `fields_filter[]` may leave only these. */
const alwaysListed = ['id', 'title'];
const itemName = (name: string) => `${name}Item`;

function success({ answer }: Route): Json {
  if (answer === 'empty') return {};
  if (answer === 'events') return { content: { 'text/event-stream': { schema: { type: 'string' } } } };
  const { name, list } = answer;
  const schema = list ? { type: 'array', items: reference('schemas', itemName(name)) } : reference('schemas', name);
  return { content: { 'application/json': { schema } } };
}

function failure(route: Route, status: number): Json {
  // Without a body in one case, with one in the other: what it is cannot be said by a media type.
  // An object that is not there has words; only the missing answer of the route itself has none.
  if (route.emptyRefusals.includes(status) && !(status === 404 && route.object)) return {};
  if (status === 429) return { content: { 'text/plain': { schema: { type: 'string', const: 'Throttled' } } } };
  return { content: { 'application/json': { schema: reference('schemas', 'Error') } } };
}

function response(route: Route, status: number, content: Json): Json {
  const { shared, own } = headersOf(route, status);
  const note = statusNotes[status] ?? '';
  return {
    description: route.emptyRefusals.includes(status)
      ? `${note} Or there is nothing to report: then without a body.`
      : note,
    headers: {
      ...Object.fromEntries(shared.map((name) => [name, reference('headers', name)])),
      ...Object.fromEntries(
        Object.entries(own).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
      ),
    },
    ...content,
  };
}

function operation(route: Route): Json {
  const failures = errorStatuses(route).map((status) => [status, response(route, status, failure(route, status))]);
  return {
    operationId: route.operation,
    summary: route.summary,
    ...(route.deprecated && { deprecated: true }),
    tags: [route.path.split('/')[1]],
    parameters: parameters(route),
    ...requestBody(route.body),
    responses: {
      [route.status]: response(route, route.status, success(route)),
      ...(route.tagged && { 304: response(route, 304, {}) }),
      ...Object.fromEntries(failures),
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

function answerSchemas({ answer }: Route): Record<string, Json> {
  if (typeof answer === 'string') return {};
  const whole = jsonSchema(answer.schema, 'output');
  if (!answer.list) return { [answer.name]: whole };
  const required = ((whole['required'] as string[] | undefined) ?? []).filter((name) => alwaysListed.includes(name));
  return { [itemName(answer.name)]: { ...whole, required } };
}

/** The OpenAPI 3.1 document of REST API v1, derived from the route table. */
export function openApiDocument(routes: readonly Route[] = restRoutes) {
  const paths: Record<string, Json> = {};
  const schemas: Record<string, Json> = { Error: errorSchema };
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
    Object.assign(schemas, answerSchemas(route));
  }
  const headers = Object.fromEntries(
    Object.entries(headerNotes).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
  return {
    openapi: '3.1.1',
    info: { title: 'Longwave REST API', version: '1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] }, { token: [] }],
    paths,
    components: {
      schemas,
      headers,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        token: { type: 'apiKey', in: 'header', name: 'Token' },
      },
    },
  };
}

export type OpenApiDocument = ReturnType<typeof openApiDocument>;
