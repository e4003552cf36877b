import { requestBytes } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import type { Exchange } from './route.ts';

/** The whole body as text. Throws `payload_too_large`, and ends the connection after the answer, when it has more bytes. */
export async function readBody({ request, response }: Exchange, maxBytes: number): Promise<string> {
  const tooLarge = () => {
    response.setHeader('connection', 'close');
    return new Problem('payload_too_large');
  };
  const chunks: Buffer[] = [];
  for await (const chunk of requestBytes(request, maxBytes, tooLarge)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
