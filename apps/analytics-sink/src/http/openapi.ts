import { rejectionReasons } from '@longwave/audience';
import { idempotencyKeyPattern } from '@longwave/ids';
import { z } from 'zod';
import { batchSchema } from '../batches/batch.ts';
import { rejectionCodes } from '../batches/row-facts.ts';

const count = z.int().min(0);
const sequence = z.int().min(0);

const watermark = z.strictObject({
  contiguous_sequence: sequence.describe('Every sequence from 1 to here was received; 0 when the first is missing.'),
  highest_sequence: sequence.describe('The highest sequence received.'),
  event_time: z.iso.datetime().nullable().describe('The end of the latest window among the contiguous batches.'),
});

const judgement = z.enum(['eligible', ...rejectionReasons, 'excess']);

const accepted = z.strictObject({ batch_id: z.string(), accepted: count, watermark });

const batchStatus = z.strictObject({
  batch_id: z.string(),
  state: z
    .enum(['stored', 'waiting', 'aggregated'])
    .describe('`waiting` while rows name an arrangement or a serving that is not known yet.'),
  received: count.describe('Rows of the batch: stored, aggregated, rejected and waiting ones.'),
  stored: count.describe('Stored: not processed yet, or of a kind that is not counted.'),
  aggregated: count,
  rejected: count,
  waiting: count,
  rejections: z.array(z.strictObject({ row: count, code: z.enum(rejectionCodes) })).describe('The first 20.'),
  rejected_by_code: z.partialRecord(z.enum(rejectionCodes), count).describe('All rejected rows by code.'),
  judgements: z
    .partialRecord(judgement, count)
    .describe('Rows that became facts, by the rule that leaves them out of the numbers, or `eligible`.'),
  uncounted: z
    .array(z.strictObject({ row: count, rule: judgement }))
    .describe('The first 20 rows that a rule leaves out.'),
});

const producerWatermark = watermark.extend({
  producer: z.string(),
  gaps: z
    .array(z.strictObject({ from: sequence, to: sequence }))
    .describe('The first 20 runs of sequences that are missing below the highest, both ends included.'),
});

const problem = z.looseObject({
  type: z.string().describe('urn:longwave:problem:…'),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  trace_id: z.string(),
  errors: z
    .array(z.strictObject({ path: z.string().describe('JSON Pointer'), code: z.string(), detail: z.string() }))
    .max(20)
    .optional(),
  retry: z.strictObject({ class: z.string(), after_seconds: z.int().optional() }),
});

/** Every body that the API answers with, by its name in the document. */
export const answerSchemas = {
  Accepted: accepted,
  BatchStatus: batchStatus,
  ProducerWatermark: producerWatermark,
  Problem: problem,
} as const;

const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
};

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const answer = (description: string, name: string) => ({
  description,
  content: { 'application/json': { schema: reference(name) } },
});

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

const failures = (...statuses: readonly number[]) =>
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
        content: { 'application/problem+json': { schema: reference('Problem') } },
      },
    ]),
  );

/** The OpenAPI 3.1 document of the Audience Analytics Sink API. */
export function audienceOpenApi() {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Longwave Audience Analytics Sink API',
      version: 'v1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/audience/v1' }],
    security: [{ bearer: [] }],
    paths: {
      '/batches': {
        post: {
          operationId: 'batch.send',
          tags: ['batches'],
          summary: 'Send measurements: all rows are accepted, or none.',
          description: 'Needs the scope audience:write. A repetition is answered 200 with the first answer.',
          parameters: [
            {
              name: 'Idempotency-Key',
              in: 'header',
              required: true,
              description: 'Names this batch; a retry sends the same.',
              schema: { type: 'string', pattern: idempotencyKeyPattern.source },
            },
            { name: 'Content-Encoding', in: 'header', schema: { enum: ['identity', 'gzip'] } },
          ],
          requestBody: { required: true, content: { 'application/json': { schema: reference('Batch') } } },
          responses: {
            202: answer('Accepted and durable; it is aggregated afterwards.', 'Accepted'),
            200: answer('It was accepted before: the first answer again.', 'Accepted'),
            ...failures(400, 401, 403, 409, 413, 415, 422),
          },
        },
      },
      '/batches/{id}': {
        get: {
          operationId: 'batch.read',
          tags: ['batches'],
          summary: 'The status of a batch.',
          description: 'Needs the scope audience:read.',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 200: answer('The rows by what became of them.', 'BatchStatus'), ...failures(401, 403, 404) },
        },
      },
      '/watermarks': {
        get: {
          operationId: 'watermark.read',
          tags: ['watermarks'],
          summary: 'The progress of a producer’s batches, with missing sequence numbers.',
          description: 'Needs the scope audience:read.',
          parameters: [{ name: 'producer', in: 'query', required: true, schema: { type: 'string' } }],
          responses: { 200: answer('Where it stands.', 'ProducerWatermark'), ...failures(401, 403, 404, 422) },
        },
      },
      '/contract': {
        get: {
          operationId: 'contract.read',
          tags: ['contract'],
          summary: 'Name, version and deprecations of this API.',
          security: [],
          responses: {
            200: { description: 'Name, version, status, deprecations.', content: { 'application/json': {} } },
          },
        },
      },
    },
    components: {
      schemas: {
        Batch: schemaOf(batchSchema, 'input'),
        ...Object.fromEntries(
          Object.entries(answerSchemas).map(([name, schema]) => [name, schemaOf(schema, 'output')]),
        ),
      },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}
