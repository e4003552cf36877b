import {
  jsonSchema,
  openApiHead,
  openApiPaths,
  reference,
  routeParameters,
  type OpenApiPart,
} from '@longwave/http-kit';
import { idempotencyKeyPattern } from '@longwave/idempotency';
import { apiContractSchema } from '@longwave/services';
import { batchSchema } from '../batches/batch.ts';
import { answerSchemas } from './answer-schemas.ts';
import { audienceRoutes, type AudienceRoute } from './routes.ts';

const notes: Readonly<Record<number, string>> = {
  400: 'The Idempotency-Key is missing, or the body is not valid JSON or gzip.',
  401: 'The token is missing, or not valid here.',
  403: 'The token lacks the scope, or is not for this producer and these workspaces.',
  404: 'It does not exist, or not for this token.',
  409: 'The batch ID or the key was used with another body, or another batch of the producer is being accepted.',
  413: 'The body has more than 1 MiB, compressed or not.',
  415: 'The body is not application/json, or has a content coding other than gzip.',
  422: 'Fields are not valid; the first 20 are named. Nothing was accepted.',
  503: 'A part of the service is not available. Send the same request again later.',
};

const failures = (statuses: readonly number[]) =>
  Object.fromEntries(
    [...statuses, 503].map((status) => [
      status,
      {
        description: notes[status],
        ...(status === 401 || status === 403
          ? {
              headers: {
                'WWW-Authenticate': { schema: { type: 'string' }, description: 'What is needed (RFC 6750).' },
              },
            }
          : {}),
        content: { 'application/problem+json': { schema: reference('schemas', 'Problem') } },
      },
    ]),
  );

/** Parameters and headers of a request for a batch. */
const batchHeaders = [
  {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description: 'Names this batch; a retry sends the same.',
    schema: { type: 'string', pattern: idempotencyKeyPattern.source },
  },
  { name: 'Content-Encoding', in: 'header', schema: { enum: ['identity', 'gzip'] } },
];

const answersOf = ({ answers }: AudienceRoute) =>
  Object.fromEntries(
    Object.entries(answers).map(([status, [description, name]]) => [
      status,
      { description, content: { 'application/json': { schema: reference('schemas', name) } } },
    ]),
  );

function operation(route: AudienceRoute): OpenApiPart {
  const { method, path, summary, note, scope } = route;
  const parameters = [...routeParameters(route), ...(method === 'POST' ? batchHeaders : [])];
  return {
    operationId: route.operation,
    tags: [path.split('/')[1]],
    summary,
    description: [`Needs the scope ${scope}.`, note].filter(Boolean).join(' '),
    parameters,
    ...(method === 'POST' && {
      requestBody: { required: true, content: { 'application/json': { schema: reference('schemas', 'Batch') } } },
    }),
    responses: { ...answersOf(route), ...failures(route.refusals) },
  };
}

/** The OpenAPI 3.1 document of the Audience Analytics Sink API, derived from the route table. */
export const audienceOpenApi = () => ({
  ...openApiHead({ title: 'Longwave Audience Analytics Sink API', version: 'v1' }, '/audience/v1'),
  security: [{ bearer: [] }],
  paths: {
    ...openApiPaths(audienceRoutes, operation),
    '/contract': {
      get: {
        operationId: 'contract.read',
        tags: ['contract'],
        summary: 'Name, version, operations and deprecations of this API.',
        security: [],
        responses: {
          200: {
            description: 'What is supported, and what is deprecated.',
            content: { 'application/json': { schema: reference('schemas', 'Contract') } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Batch: jsonSchema(batchSchema, 'input'),
      Contract: jsonSchema(apiContractSchema, 'output'),
      ...Object.fromEntries(
        Object.entries(answerSchemas).map(([name, schema]) => [name, jsonSchema(schema, 'output')]),
      ),
    },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  },
});
