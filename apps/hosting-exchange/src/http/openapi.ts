import { payloadSchemas } from '@longwave/exchange-messages';
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
import type { ExchangeRoute } from './exchange-route.ts';
import { exampleRefusal, refusalSchema } from './refusal-schema.ts';
import { exchangeRoutes } from './routes.ts';
import { keySet } from './routes/proofs.ts';

const introduction = `A hosting platform sends signed messages about its episodes, and Longwave delivers them with ads. The guide “Connect a hosting
platform” (docs/hosting-exchange.md) goes from the first key to the first served address. A message is a flattened JWS whose payload is one of the
schemas Payload…; each names the one before it in its stream.`;

const tokenSource =
  'An access token of `{base_url}/oauth/token` by client credentials (HTTP Basic), with `resource={api_url}/hosting-exchange/v1` and the scopes exchange:read and exchange:write.';

/** What the groups of operations are about. */
const groups: Readonly<Record<string, string>> = {
  messages: 'Signed messages, as they are sent and as they were accepted.',
  streams: 'A stream is one show: its messages are a chain.',
  'content-snapshots': 'What a version of an episode has become here.',
  'surface-capabilities': 'What a surface can play, as it was declared.',
  'delivery-aliases': 'Lasting public addresses.',
  'delivery-resolutions': 'Where to send a listener.',
  'platform-evidence': 'Reports of the platform beside our own downloads.',
  'serving-intents': 'What should serve at the addresses, and who has applied it.',
  operations: 'What management did for a message.',
  receipts: 'Signed receipts of accepted messages.',
  keys: 'Public keys of receipts and checkpoints.',
  checkpoint: 'The signed head of the chain of receipts.',
  about: 'Documents about this API; they need no token.',
};

const notes: Readonly<Record<number, string>> = {
  400: 'The Idempotency-Key is missing, or the body is not JSON of the required form.',
  401: 'The token is missing, or not valid here.',
  403: 'The token lacks the scope, is for another workspace, or its authority does not hold; or a message names something foreign.',
  404: 'It does not exist, or not for this authority.',
  409: 'The key was used for something else, or the message does not continue its stream.',
  413: 'The body has more than 8 MiB where messages are sent and 16 KiB elsewhere, or a payload more than 256 KiB.',
  415: 'The body is not application/json, or has a content coding.',
  422: 'A field, a signature or a key is not valid.',
  423: 'The stream is held.',
  429: 'Too many requests in this minute.',
  503: 'A part of the service is not available. Send the same request again later.',
};

const refusalsOf = (statuses: readonly number[]) =>
  Object.fromEntries(
    statuses.map((status) => [
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

const part = { type: 'string', pattern: '^[A-Za-z0-9_-]+$' };

/** A message on the wire, and the payloads that it may sign. */
const signedMessage: OpenApiPart = {
  type: 'object',
  description:
    'A flattened JWS (RFC 7515 §7.2.2): base64url without padding. The protected header is {"alg":"EdDSA","kid":"key_…","typ":"hx+json","hxv":"1"}; the payload is one of the schemas Payload….',
  properties: { protected: part, payload: part, signature: part },
  required: ['protected', 'payload', 'signature'],
  additionalProperties: false,
};

const submission: OpenApiPart = {
  type: 'object',
  properties: { messages: { type: 'array', items: reference('schemas', 'SignedMessage'), minItems: 1, maxItems: 100 } },
  required: ['messages'],
  additionalProperties: false,
};

const payloadName = (schema: string) =>
  `Payload${schema
    .replace('/1', '')
    .split('-')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')}`;

function operation(route: ExchangeRoute): OpenApiPart {
  const { method, path, summary, note, scope } = route;
  const isWrite = method === 'POST';
  const scopes = isWrite ? `Needs the scope ${scope}.` : 'Needs exchange:read or exchange:write.';
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description: 'Names this write; a retry sends the same.',
    schema: { type: 'string', pattern: idempotencyKeyPattern.source },
  };
  const body = route.body ? jsonSchema(route.body, 'input') : reference('schemas', 'Submission');
  return {
    operationId: route.operation,
    tags: [path.split('/')[3]],
    summary,
    description: [scopes, note].filter(Boolean).join(' '),
    parameters: [...routeParameters(route), ...(isWrite ? [key] : [])],
    ...(isWrite && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, [description, schema]]) => [
          status,
          { description, content: { 'application/json': { schema: jsonSchema(schema, 'output') } } },
        ]),
      ),
      ...refusalsOf([...new Set([401, 403, ...route.refusals, 429, 503])]),
    },
  };
}

/** A document that everybody may read. */
const publicDocument = (operationId: string, summary: string, schema: OpenApiPart, failures: OpenApiPart = {}) => ({
  get: {
    operationId,
    tags: ['about'],
    summary,
    security: [],
    responses: {
      200: { description: 'The document.', content: { 'application/json': { schema } } },
      ...failures,
    },
  },
});

/** The OpenAPI 3.1 document of the Hosting Exchange API, derived from the route table. */
export const exchangeOpenApi = () => ({
  ...openApiHead(
    { title: 'Longwave Hosting Exchange API', version: '1.0.0', description: introduction },
    '/hosting-exchange/v1',
  ),
  security: [{ bearer: [] }],
  tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
  paths: {
    ...openApiPaths(exchangeRoutes, operation),
    '/contract': publicDocument(
      'contract.read',
      'Name, version, operations and deprecations of this API.',
      reference('schemas', 'Contract'),
    ),
    '/keys': publicDocument(
      'public_keys.read',
      'The public keys of receipts and checkpoints, without a token.',
      jsonSchema(keySet, 'output'),
      refusalsOf([429, 503]),
    ),
  },
  components: {
    schemas: {
      Contract: jsonSchema(apiContractSchema, 'output'),
      Problem: { ...jsonSchema(refusalSchema, 'output'), examples: [exampleRefusal] },
      SignedMessage: signedMessage,
      Submission: submission,
      ...Object.fromEntries(
        Object.entries(payloadSchemas).map(([name, schema]) => [payloadName(name), jsonSchema(schema, 'input')]),
      ),
    },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: tokenSource } },
  },
});
