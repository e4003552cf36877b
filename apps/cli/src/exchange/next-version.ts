import type { ExchangeClient } from '@longwave/exchange-client';
import { z } from 'zod';

const payload = z.object({
  subject: z.object({ type: z.string(), source_id: z.string(), source_version: z.int() }),
});

/** One more than the greatest version of a subject in a stream, which is read from its first message; 1 for a new subject or stream. */
export async function nextVersion(
  exchange: ExchangeClient,
  streamId: string,
  subject: { readonly type: string; readonly sourceId: string },
): Promise<number> {
  if (!(await exchange.head(streamId))) return 1;
  let greatest = 0;
  for await (const message of exchange.messages(streamId)) {
    const { subject: found } = payload.parse(JSON.parse(Buffer.from(message.payload, 'base64url').toString()));
    if (found.type === subject.type && found.source_id === subject.sourceId)
      greatest = Math.max(greatest, found.source_version);
  }
  return greatest + 1;
}
