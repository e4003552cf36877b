import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { requestBytes } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import { z } from 'zod';

/** The limit of a body: the longest transcript that a tool takes, with room for the rest. */
export const maxBodyBytes = 2 * 1024 * 1024;

/** A JSON-RPC request as far as the checks before the handler read it. */
const messageSchema = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z
    .looseObject({ name: z.string().optional(), uri: z.string().optional(), arguments: z.unknown() })
    .partial()
    .optional(),
});
export type Message = z.output<typeof messageSchema>;

/** A body: its text as JSON, and the message in it. */
export interface Body {
  /** Undefined for a text that is no JSON. */
  readonly json: unknown;
  /** Undefined for JSON that the checks cannot read as one message: it must not reach the handler unchecked. */
  readonly message: Message | undefined;
}

const tooLarge = () => new Problem('payload_too_large', 'The body is larger than 2 MiB.');

/** Reads a body of at most 2 MiB. Throws `payload_too_large`. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of requestBytes(request, maxBodyBytes, tooLarge)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const maxDepth = 64;
const maxValues = 50_000;

/** Whether values lie deeper in each other, or are more, than any tool takes: what comes after would need long for them. */
function isExcessive(json: unknown): boolean {
  let [level, count] = [[json], 1];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth || count > maxValues) return true;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
    count += level.length;
  }
  return false;
}

/** Parses a body. */
export function parseBody(bytes: Buffer): Body {
  let json: unknown;
  try {
    if (isUtf8(bytes)) json = JSON.parse(bytes.toString()) as unknown;
  } catch {
    json = undefined;
  }
  return { json, message: isExcessive(json) ? undefined : messageSchema.safeParse(json).data };
}
