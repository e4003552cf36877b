import { problemSchema } from '@longwave/http-kit';
import { z } from 'zod';
import { messageResult } from './routes/messages.ts';

/** What the refusal of a message says beside the members of every problem (docs/hosting-exchange.md, Rejections). */
export const refusalSchema = problemSchema.extend({
  index: z.int().min(0).max(99).optional().describe('The refused message in the request.'),
  results: z.array(messageResult).optional().describe('The results of those before it: they are accepted.'),
  field_path: z.string().optional().describe('unknown_field: JSON Pointer of the member.'),
  expected_seq: z.int().min(1).optional().describe('chain_gap: the `seq` that comes next.'),
  expected_prev: z.string().nullable().optional().describe('chain_gap: its `prev`.'),
  accepted_digest: z.string().optional().describe('changed_duplicate, chain_fork: the accepted message.'),
  received_digest: z.string().optional().describe('changed_duplicate, chain_fork: the refused message.'),
  contradictions: z
    .int()
    .min(1)
    .optional()
    .describe('changed_duplicate, chain_fork: how many the stream has had within 24 h.'),
  held_at: z.int().min(1).optional().describe('So many hold the stream.'),
  rotation_opens: z
    .boolean()
    .optional()
    .describe('stream_quarantined: whether a rotation of the key can open the stream, or the operator alone.'),
  accepted_version: z.int().min(1).optional().describe('source_version_regression: the newest accepted version.'),
  not_before: z.string().optional().describe('clock_skew: `issued_at` of the message before.'),
  server_time: z.string().optional().describe('clock_skew: our clock.'),
  fault: z.string().optional().describe('What is wrong with the signature of the request (RFC 9421).'),
});

/** One refusal, for pages that would make up an example of every member. */
export const exampleRefusal = {
  type: 'urn:longwave:problem:chain-gap',
  title: 'Messages before this one are missing',
  status: 409,
  detail: 'Message 8 is expected next.',
  code: 'chain_gap',
  instance: 'urn:longwave:request:0af7651916cd43dd8448eb211c80319c',
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  index: 0,
  results: [],
  expected_seq: 8,
  expected_prev: `sha256:${'0123456789abcdef'.repeat(4)}`,
  retry: { class: 'after_read' },
};
