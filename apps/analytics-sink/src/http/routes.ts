import { checkBodyHeaders, readJson, type RoutePlace } from '@longwave/http-kit';
import { jcsDigest, requireIdempotencyKey } from '@longwave/idempotency';
import type { Pool } from '@longwave/postgres';
import type { AudienceScope } from '@longwave/principal';
import { parseOrProblem, Problem } from '@longwave/problems';
import type { Request } from 'express';
import { z } from 'zod';
import { acceptBatch } from '../batches/accept-batch.ts';
import { findBatchStatus } from '../batches/batch-table.ts';
import { assertOwnData, givenName, parseBatch } from '../batches/batch.ts';
import { findRowJudgements } from '../batches/row-judgements.ts';
import { readWatermark } from '../batches/watermark-table.ts';
import type { answerSchemas } from './answer-schemas.ts';
import type { Client } from './authenticate.ts';

export interface RouteDeps {
  readonly pool: Pool;
  readonly clock: () => Date;
  /** Called after every accepted batch. */
  readonly onAccepted: () => void;
}

interface Answer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** An operation of the API. */
export interface AudienceRoute extends RoutePlace {
  readonly operation: 'batch.send' | 'batch.read' | 'watermark.read';
  readonly summary: string;
  /** A sentence for the documentation, after the scope. */
  readonly note?: string;
  readonly scope: AudienceScope;
  /** Undefined: parameters of the query are ignored. */
  readonly query?: z.ZodObject;
  /** Status → its description, and the name of its body in the documentation. */
  readonly answers: Readonly<Record<number, readonly [note: string, body: keyof typeof answerSchemas]>>;
  /** Statuses of its refusals, besides 503. */
  readonly refusals: readonly number[];
  /** Checks the headers of a body, before the token is checked. */
  readonly checkHeaders?: (request: Request) => void;
  readonly answer: (request: Request, client: Client, deps: RouteDeps) => Promise<Answer>;
}

const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) });

const watermarkQuery = z.strictObject({ producer: z.string() });

const sendBatch: AudienceRoute = {
  operation: 'batch.send',
  method: 'POST',
  path: '/batches',
  summary: 'Send measurements: all rows are accepted, or none.',
  note: 'A repetition is answered 200 with the first answer.',
  scope: 'audience:write',
  answers: {
    202: ['Accepted and durable; it is aggregated afterwards.', 'Accepted'],
    200: ['It was accepted before: the first answer again.', 'Accepted'],
  },
  refusals: [400, 401, 403, 409, 413, 415, 422],
  checkHeaders: checkBodyHeaders,
  answer: async (request, client, { pool, clock, onAccepted }) => {
    const header = request.get('idempotency-key');
    const idempotencyKey = requireIdempotencyKey(header, 'Send an Idempotency-Key that names this batch.');
    const body = await readJson(request);
    assertOwnData(body, client);
    const receivedAt = clock();
    const batch = parseBatch(body, receivedAt);
    const own = { idempotencyKey, digest: jcsDigest(body), receivedAt };
    const { answer, replayed } = await acceptBatch(pool, batch, own);
    if (!replayed) onAccepted();
    return { status: replayed ? 200 : 202, body: answer };
  },
};

const readBatch: AudienceRoute = {
  operation: 'batch.read',
  method: 'GET',
  path: '/batches/{id}',
  summary: 'The status of a batch.',
  scope: 'audience:read',
  answers: { 200: ['The rows by what became of them.', 'BatchStatus'] },
  refusals: [401, 403, 404],
  answer: async (request, client, { pool }) => {
    const { id } = request.params;
    const { data: batchId } = givenName.safeParse(id);
    const found = batchId && (await findBatchStatus(pool, client.producer, client.workspaces, batchId));
    if (!found) throw new Problem('not_found', 'There is no such batch.');
    return json(200, { ...found.status, ...(await findRowJudgements(pool, client.producer, found.rows)) });
  },
};

const readProducerWatermark: AudienceRoute = {
  operation: 'watermark.read',
  method: 'GET',
  path: '/watermarks',
  summary: 'The progress of a producer’s batches, with missing sequence numbers.',
  scope: 'audience:read',
  query: watermarkQuery,
  answers: { 200: ['Where it stands.', 'ProducerWatermark'] },
  refusals: [401, 403, 404, 422],
  answer: async (request, client, { pool }) => {
    const { producer } = parseOrProblem(watermarkQuery, request.query);
    if (producer !== client.producer) throw new Problem('not_found', 'There is no such producer.');
    return json(200, { producer, ...(await readWatermark(pool, producer)) });
  },
};

/** Every operation of the Audience Analytics Sink API. */
export const audienceRoutes: readonly AudienceRoute[] = [sendBatch, readBatch, readProducerWatermark];
