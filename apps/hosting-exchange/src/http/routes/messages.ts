import { streamId as streamIdForm } from '@longwave/exchange-messages';
import { parseOrProblem } from '@longwave/problems';
import { z } from 'zod';
import { findAccepted, listAccepted, type StoredMessage } from '../../messages/message-table.ts';
import { findStreamView } from '../../streams/stream-table.ts';
import { json, notFound, type ExchangeRoute } from '../exchange-route.ts';
import { messagesOf } from '../read-message-body.ts';

const digest = z.string().describe('`sha256:` and 64 hex digits.');

/** What became of a message of a request. */
export const messageResult = z
  .strictObject({
    sequence: z.int(),
    digest,
    status: z.enum(['accepted', 'replayed']),
    receipt_id: z.string(),
    operation_id: z.string(),
    resource: z.strictObject({ type: z.string(), id: z.string() }),
    accepted_at: z.string(),
  })
  .describe('`replayed`: it was accepted before, and this is its original receipt.');

const submitted = z.strictObject({
  results: z.array(messageResult),
  head: z.strictObject({ sequence: z.int(), digest }).describe('The newest accepted message of the stream.'),
});

const stream = z.strictObject({
  stream_id: z.string(),
  authority_id: z.string(),
  state: z.enum(['open', 'quarantined']),
  state_reason: z.string().optional(),
  head: z.strictObject({ sequence: z.int(), digest, issued_at: z.string() }).nullable(),
  last_receipt_id: z.string().nullable(),
});

const storedMessage = z.strictObject({
  sequence: z.int(),
  digest,
  stream_id: z.string(),
  protected: z.string(),
  payload: z.string(),
  signature: z.string(),
  resource: z.strictObject({ type: z.string(), id: z.string() }),
  operation_id: z.string(),
  receipt_id: z.string(),
  accepted_at: z.string(),
});

/** An accepted message with its original bytes, as the API answers it. */
const messageView = (stored: StoredMessage): z.input<typeof storedMessage> => ({
  sequence: stored.sequence,
  digest: stored.digest,
  stream_id: stored.stream_id,
  protected: stored.protected,
  payload: stored.payload,
  signature: stored.signature,
  resource: { type: stored.resource_type, id: stored.resource_id },
  operation_id: stored.operation_id,
  receipt_id: stored.receipt_id,
  accepted_at: stored.accepted_at.toISOString(),
});

const submit: ExchangeRoute = {
  operation: 'messages.submit',
  method: 'POST',
  path: '/workspaces/{workspace_id}/messages',
  summary: 'Submit signed messages of one stream, in their order.',
  note: 'Those before the first that is refused are accepted. The refusal names its place (`index`) and has the `results` before it.',
  scope: 'exchange:write',
  answers: {
    202: ['Accepted; each has a receipt.', submitted],
    200: ['All were accepted before: their original receipts.', submitted],
  },
  refusals: [400, 409, 413, 415, 422, 423],
  answer: async ({ client, body, idempotencyKey }, { accept }) => accept(client, messagesOf(body), idempotencyKey),
};

const readStream: ExchangeRoute = {
  operation: 'stream.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/streams/{stream_id}',
  summary: 'The head of a stream: where a sender goes on.',
  scope: 'exchange:read',
  answers: { 200: ['The stream.', stream] },
  refusals: [404],
  answer: async ({ client, parameter }, { pool, settle }) => {
    const streamId = parameter('stream_id');
    if (!streamIdForm.safeParse(streamId).success) throw notFound('stream');
    const { workspaceId, authorityId } = client;
    const before = await findStreamView(pool, authorityId, workspaceId, streamId);
    if (!before) throw notFound('stream');
    // Messages that a crash left without their commands become part of the head, or give their places back. Where that is not possible now,
    // the head is that of the accepted ones.
    await settle({ workspaceId, streamId }).catch(() => undefined);
    return json(200, await findStreamView(pool, authorityId, workspaceId, streamId));
  },
};

const exportQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0).describe('The sequence after which the page begins.'),
  limit: z.coerce.number().int().min(1).max(100).default(100),
});

const exportStream: ExchangeRoute = {
  operation: 'stream.export',
  method: 'GET',
  path: '/workspaces/{workspace_id}/streams/{stream_id}/messages',
  summary: 'The accepted messages of a stream, with their original bytes.',
  scope: 'exchange:read',
  query: exportQuery,
  answers: {
    200: [
      'A page of the stream.',
      z.strictObject({
        messages: z.array(storedMessage),
        next_after: z.int().nullable().describe('`after` of the next page; null at the end.'),
      }),
    ],
  },
  refusals: [404, 422],
  answer: async ({ client, parameter, query }, { pool }) => {
    const { after, limit } = parseOrProblem(exportQuery, query, '/query');
    const { workspaceId, authorityId } = client;
    const streamId = parameter('stream_id');
    if (!(await findStreamView(pool, authorityId, workspaceId, streamId))) throw notFound('stream');
    const place = { workspaceId, streamId };
    const { messages, hasMore } = await listAccepted(pool, authorityId, place, after, limit);
    return json(200, {
      messages: messages.map(messageView),
      next_after: hasMore ? messages.at(-1)!.sequence : null,
    });
  },
};

const readMessage: ExchangeRoute = {
  operation: 'message.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/messages/{message_digest}',
  summary: 'An accepted message: its original bytes, and what it became.',
  scope: 'exchange:read',
  answers: { 200: ['The message.', storedMessage] },
  refusals: [404],
  answer: async ({ client, parameter }, { pool }) => {
    const name = parameter('message_digest');
    const found = (await findAccepted(pool, client.authorityId, [name])).get(name);
    if (!found) throw notFound('message');
    return json(200, messageView(found));
  },
};

export const messageRoutes: readonly ExchangeRoute[] = [submit, readStream, exportStream, readMessage];
