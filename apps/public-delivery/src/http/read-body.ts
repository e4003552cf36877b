import { Problem } from '@longwave/problems';
import type { Exchange } from './route.ts';

/** The whole body as text. Throws `payload_too_large`, and ends the connection after the answer, when it has more bytes. */
export async function readBody({ request, response }: Exchange, bytesMax: number): Promise<string> {
  const tooLarge = () => {
    response.setHeader('connection', 'close');
    return new Problem('payload_too_large');
  };
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // The connection must live long enough to carry the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
