import { maxBatchMessages, parseStrictJson } from '@longwave/exchange-messages';
import { requestBytes } from '@longwave/http-kit';
import { Problem, type ProblemCode } from '@longwave/problems';
import type { Request } from 'express';

/** The bound of a submission: more than a hundred ordinary messages, or 24 of the largest ones. */
export const maxSubmissionBytes = 8 * 1024 * 1024;

/** The bound of every other body. */
export const maxQuestionBytes = 16 * 1024;

/** Values in a body: a hundred envelopes have 402. */
const maxBodyValues = 500;

const tooLarge = (maxBytes: number) =>
  new Problem(
    'payload_too_large',
    maxBytes === maxSubmissionBytes
      ? 'The body must not exceed 8 MiB. Send fewer messages at once.'
      : `The body must not exceed ${maxBytes / 1024} KiB.`,
  );

/** Checks the headers of a request with a body, before the body is read. Throws `unsupported_media_type` or `payload_too_large`. */
export function checkBodyHeaders({ headers }: Pick<Request, 'headers'>, maxBytes: number): void {
  const mediaType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (mediaType !== 'application/json') throw new Problem('unsupported_media_type', 'Send application/json.');
  const coding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding !== 'identity') throw new Problem('unsupported_media_type', 'Send the body without a content coding.');
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** The bytes of a body. Throws `payload_too_large`. */
export async function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of requestBytes(request, maxBytes, () => tooLarge(maxBytes))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A refusal that names the member of the body that is wrong. */
const refuse = (code: ProblemCode, path: string, detail: string): Problem =>
  new Problem(code, detail, {
    errors: [{ path, code, detail }],
    ...(code === 'unknown_field' && { members: { field_path: path } }),
  });

/** The JSON of a body, by the strict rules of messages. Throws `malformed_message`. */
export function parseBody(bytes: Uint8Array): unknown {
  const json = parseStrictJson(bytes, { maxDepth: 8, maxValues: maxBodyValues });
  if (!json.ok) throw refuse('malformed_message', json.fault.path, json.fault.detail);
  return json.value;
}

/** The items of a submission: `{"messages": […]}` and nothing else (rule 4). Throws `malformed_message` or `unknown_field`. */
export function messagesOf(body: unknown): readonly unknown[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw refuse('malformed_message', '', 'The body is a JSON object with “messages”.');
  const unknown = Object.keys(body).find((name) => name !== 'messages');
  if (unknown !== undefined) throw refuse('unknown_field', `/${unknown.slice(0, 100)}`, 'There is no such field.');
  const { messages } = body as { readonly messages?: unknown };
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > maxBatchMessages)
    throw refuse('malformed_message', '/messages', `“messages” is a list of 1 to ${maxBatchMessages} messages.`);
  return messages;
}
