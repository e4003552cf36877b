import { z } from 'zod';
import { takesIfMatch, type Route } from '../route.ts';
import { routes as restRoutes } from '../routes.ts';
import { errorStatuses, headerNotes, headersOf, statusNotes } from './answer-notes.ts';
import { describeDeprecation, tagOf } from './deprecation.ts';

type Json = Record<string, unknown>;

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  return rest;
};

const header = (name: string, description: string) => ({ name, in: 'header', description, schema: { type: 'string' } });

/** Fields of a body that may come as query parameters as well: all that a text can hold. */
function bodyParameters(body: z.ZodObject): Json[] {
  const { properties = {} } = jsonSchema(body, 'input') as { properties?: Readonly<Record<string, Json>> };
  return Object.entries(properties)
    .filter(([, { type }]) => type !== 'array' && type !== 'object')
    .map(([name, schema]) => ({
      ...{ name, in: 'query', required: false, schema },
      description: 'May also be sent in the body. If both have it, the body counts.',
    }));
}

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
    ...(route.queryOrBody && route.body ? bodyParameters(route.body) : []),
    ...(route.command
      ? [
          header(
            'Idempotency-Key',
            'A key that you choose for this write. A retry with the same key does not repeat the write.',
          ),
        ]
      : []),
    ...(takesIfMatch(route)
      ? [
          header(
            'If-Match',
            'ETag of the version that you read. If the object has changed since then, the request is refused with 412.',
          ),
        ]
      : []),
    ...(route.tagged
      ? [
          header(
            'If-None-Match',
            'ETag of the version that you have. If it is current, the answer is 304 without a body.',
          ),
        ]
      : []),
  ];
}

function requestBody({ body, queryOrBody }: Route): Json {
  if (!body) return {};
  const schema = jsonSchema(body, 'input');
  const required = !queryOrBody && ((schema['required'] as string[] | undefined) ?? []).length > 0;
  const content = { 'application/json': { schema }, 'application/x-www-form-urlencoded': { schema } };
  return { requestBody: { required, content } };
}

const reference = (kind: 'schemas' | 'headers', name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** An item of a list, of which `fields_filter[]` may leave only these. */
const alwaysListed = ['id', 'title'];
const itemName = (name: string) => `${name}Item`;

function success({ answer }: Pick<Route, 'answer'>): Json {
  if (answer === 'empty') return {};
  if (answer === 'events') return { content: { 'text/event-stream': { schema: { type: 'string' } } } };
  if (answer === 'csv') return { content: { 'text/csv': { schema: { type: 'string' } } } };
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
      ? `${note} The body is empty when there is nothing to report.`
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

const otherSuccess = (route: Route, { status, when, answer }: NonNullable<Route['otherAnswer']>): Json => ({
  ...response(route, status, success({ answer })),
  description: when,
});

/** The first sentence is the summary, which is plain text; what follows is Markdown (OpenAPI 3.1.1 §4.8.10). */
function describe(route: Route): Json {
  const [summary = '', more] = route.summary.split(/(?<=\.) (.*)/s);
  const description = [more, route.deprecated && describeDeprecation(route)].filter(Boolean).join('\n\n');
  return { summary, ...(description !== '' && { description }) };
}

function operation(route: Route): Json {
  const failures = errorStatuses(route).map((status) => [status, response(route, status, failure(route, status))]);
  return {
    operationId: route.operation,
    ...describe(route),
    ...(route.deprecated && { deprecated: true }),
    tags: [tagOf(route)],
    parameters: parameters(route),
    ...requestBody(route),
    responses: {
      [route.status]: response(route, route.status, success(route)),
      ...(route.otherAnswer && { [route.otherAnswer.status]: otherSuccess(route, route.otherAnswer) }),
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

function answerSchemas({ answer }: Pick<Route, 'answer'>): Record<string, Json> {
  if (typeof answer === 'string') return {};
  const whole = jsonSchema(answer.schema, 'output');
  if (!answer.list) return { [answer.name]: whole };
  const required = ((whole['required'] as string[] | undefined) ?? []).filter((name) => alwaysListed.includes(name));
  return { [itemName(answer.name)]: { ...whole, required } };
}

const introduction = `Lists podcasts, takes uploads, encodes audio, publishes feeds and reports what was downloaded.

**First steps**: press *Authorize* and enter an API key, or send it as \`Authorization: Bearer KEY\` or \`Token: KEY\`. Then create a
podcast, ask for an upload (\`POST /uploads\`), send the file with PUT to \`upload_url\`, create a production with the returned
\`file_url\`, and start it.

**Errors** are JSON with \`code\` (the HTTP status) and \`message\`. A write that is sent again with the same
\`Idempotency-Key\` is carried out once.`;

/** The groups of operations, in the order of first use. */
const tags = [
  {
    name: 'podcasts',
    description: 'Podcasts: fields, publication, feed, collaborators, moving from and to other hosts, analytics.',
  },
  { name: 'episodes', description: 'Episodes: fields, publication, chapters, transcripts, analytics.' },
  { name: 'uploads', description: 'Sending files: with one PUT, or in parts above 30 MB.' },
  { name: 'productions', description: 'Encoding of an episode: create, start, follow, stop.' },
  { name: 'media_clips', description: 'Encoded files of an episode, or files hosted elsewhere.' },
  {
    name: 'batch_encodings',
    description: 'Encoding all episodes of a podcast again, after its intro or outro has changed.',
  },
  { name: 'analytics', description: 'Downloads of all episodes, monthly reports and their archive.' },
  { name: 'statistics', description: 'Older paths of analytics. Deprecated.' },
  { name: 'account', description: 'Plan, usage, members and keys of the account.' },
  { name: 'operations', description: 'Work that continues after the request was answered.' },
];

/** The OpenAPI 3.1 document of REST API v1, derived from the route table. */
export function openApiDocument(routes: readonly Route[] = restRoutes) {
  const paths: Record<string, Json> = {};
  const schemas: Record<string, Json> = { Error: errorSchema };
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
    Object.assign(schemas, answerSchemas(route), route.otherAnswer && answerSchemas(route.otherAnswer));
  }
  const headers = Object.fromEntries(
    Object.entries(headerNotes).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'Longwave REST API',
      version: '1',
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api/v1' }],
    tags: tags.filter(({ name }) => routes.some((route) => tagOf(route) === name)),
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
