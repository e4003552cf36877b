import {
  fieldsOf,
  jsonSchema,
  openApiHead,
  openApiPaths,
  reference,
  routeParameters,
  type OpenApiPart,
} from '@longwave/http-kit';
import type { RestScope } from '@longwave/principal';
import { apiContractSchema } from '@longwave/services';
import type { z } from 'zod';
import { takesIfMatch, type Route } from '../route.ts';
import { routes as restRoutes } from '../routes.ts';
import { errorStatuses, headerNotes, headersOf, statusNotes } from './answer-notes.ts';
import { describeDeprecation, tagOf } from './deprecation.ts';

const header = (name: string, description: string) => ({ name, in: 'header', description, schema: { type: 'string' } });

/** Fields of a body that may come as query parameters as well: all that a text can hold. */
function bodyParameters(body: z.ZodObject): OpenApiPart[] {
  return Object.entries(fieldsOf(body).properties)
    .filter(([, { type }]) => type !== 'array' && type !== 'object')
    .map(([name, schema]) => ({
      ...{ name, in: 'query', required: false, schema },
      description: 'May also be sent in the body. If both have it, the body counts.',
    }));
}

function parameters(route: Route): OpenApiPart[] {
  return [
    ...routeParameters(route),
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

function requestBody({ body, queryOrBody }: Route): OpenApiPart {
  if (!body) return {};
  const schema = jsonSchema(body, 'input');
  const required = !queryOrBody && fieldsOf(body).required.length > 0;
  const content = { 'application/json': { schema }, 'application/x-www-form-urlencoded': { schema } };
  return { requestBody: { required, content } };
}

/** An item of a list, of which `fields_filter[]` may leave only these. */
const alwaysListed = ['id', 'title'];
const itemName = (name: string) => `${name}Item`;

function success({ answer }: Pick<Route, 'answer'>): OpenApiPart {
  if (answer === 'empty') return {};
  if (answer === 'events') return { content: { 'text/event-stream': { schema: { type: 'string' } } } };
  if (answer === 'csv') return { content: { 'text/csv': { schema: { type: 'string' } } } };
  const { name, list } = answer;
  const schema = list ? { type: 'array', items: reference('schemas', itemName(name)) } : reference('schemas', name);
  return { content: { 'application/json': { schema } } };
}

function failure(route: Route, status: number): OpenApiPart {
  // Without a body in one case, with one in the other: what it is cannot be said by a media type.
  // An object that is not there has words; only the missing answer of the route itself has none.
  if (route.emptyRefusals.includes(status) && !(status === 404 && route.object)) return {};
  if (status === 429) return { content: { 'text/plain': { schema: { type: 'string', const: 'Throttled' } } } };
  return { content: { 'application/json': { schema: reference('schemas', 'Error') } } };
}

function response(route: Route, status: number, content: OpenApiPart): OpenApiPart {
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

const otherSuccess = (route: Route, { status, when, answer }: NonNullable<Route['otherAnswer']>): OpenApiPart => ({
  ...response(route, status, success({ answer })),
  description: when,
});

/** The first sentence is the summary, which is plain text; what follows is Markdown (OpenAPI 3.1.1 §4.8.10). */
function describe(route: Route): OpenApiPart {
  const [summary = '', more] = route.summary.split(/(?<=\.) (.*)/s);
  const description = [more, route.deprecated && describeDeprecation(route)].filter(Boolean).join('\n\n');
  return { summary, ...(description !== '' && { description }) };
}

function operation(route: Route): OpenApiPart {
  const failures = errorStatuses(route).map((status) => [status, response(route, status, failure(route, status))]);
  return {
    operationId: route.operation,
    ...describe(route),
    ...(route.deprecated && { deprecated: true }),
    tags: [tagOf(route)],
    parameters: parameters(route),
    ...requestBody(route),
    security: [{ bearer: [] }, { token: [] }, { partner: [route.scope] }],
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

function answerSchemas({ answer }: Pick<Route, 'answer'>): Record<string, OpenApiPart> {
  if (typeof answer === 'string') return {};
  const whole = jsonSchema(answer.schema, 'output');
  if (!answer.list) return { [answer.name]: whole };
  const required = ((whole['required'] as string[] | undefined) ?? []).filter((name) => alwaysListed.includes(name));
  return { [itemName(answer.name)]: { ...whole, required } };
}

const contractTag = { name: 'contract', description: 'What this API supports and what is deprecated.' };

const taggedHeaders = Object.fromEntries(['X-Request-Id', 'ETag'].map((name) => [name, reference('headers', name)]));

/** It needs no credential and is not counted. */
const readContract: OpenApiPart = {
  operationId: 'contract',
  summary: 'Name, version, operations and deprecations of this API.',
  tags: ['contract'],
  parameters: [],
  security: [],
  responses: {
    200: {
      description: 'What is supported, and what is deprecated.',
      headers: taggedHeaders,
      content: { 'application/json': { schema: reference('schemas', 'Contract') } },
    },
    304: { description: 'Unchanged: If-None-Match names the current ETag.', headers: taggedHeaders },
  },
};

const introduction = `Lists podcasts, takes uploads, encodes audio, publishes feeds and reports what was downloaded.

**First steps**: press *Authorize* and enter an API key, or send it as \`Authorization: Bearer KEY\` or \`Token: KEY\`. Then create a
podcast, ask for an upload (\`POST /uploads\`), send the file with PUT to \`upload_url\`, create a production with the returned
\`file_url\`, and start it.

**Errors** are JSON with \`code\` (the HTTP status) and \`message\`. A write that is sent again with the same
\`Idempotency-Key\` is carried out once.`;

const scopeNotes: Readonly<Record<RestScope, string>> = {
  'api:read': 'Read podcasts, episodes, uploads, productions and the account.',
  'api:write': 'Change podcasts, episodes, productions and everything else that is not an upload.',
  'api:uploads.write': 'Get addresses to which files are uploaded.',
  'api:analytics.read': 'Read the numbers of the audience.',
};

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
  { name: 'webhook_endpoints', description: 'Addresses of yours to which events are posted, and what was sent there.' },
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
  const schemas: Record<string, OpenApiPart> = {
    Error: errorSchema,
    Contract: jsonSchema(apiContractSchema, 'output'),
  };
  for (const route of routes)
    Object.assign(schemas, answerSchemas(route), route.otherAnswer && answerSchemas(route.otherAnswer));
  const paths: Record<string, OpenApiPart> = { ...openApiPaths(routes, operation), '/contract': { get: readContract } };
  const headers = Object.fromEntries(
    Object.entries(headerNotes).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
  return {
    ...openApiHead({ title: 'Longwave REST API', version: '1', description: introduction }, '/api/v1'),
    tags: [...tags.filter(({ name }) => routes.some((route) => tagOf(route) === name)), contractTag],
    paths,
    components: {
      schemas,
      headers,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        token: { type: 'apiKey', in: 'header', name: 'Token' },
        partner: {
          type: 'oauth2',
          description:
            'Access tokens of registered partner applications. Every operation names the scope that it needs.',
          flows: {
            authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl: '/oauth/token', scopes: scopeNotes },
          },
        },
      },
    },
  };
}
