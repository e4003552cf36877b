import { Refused, type Delivered } from './_attempts.ts';

/** How long a listener waits for an answer with all its bytes. */
const patienceMs = 5_000;

/** A listener's client, which notes every byte that arrives. */
export function createMediaClient(note: (delivered: Delivered) => void) {
  /**
   * Takes what an address of the media host answers.
   * @throws when it is refused, broken off, or takes too long
   */
  async function take(url: string, headers: Readonly<Record<string, string>>): Promise<Buffer> {
    const response = await fetch(url, {
      // So many bytes arrive as the head promises.
      headers: { 'accept-encoding': 'identity', ...headers },
      signal: AbortSignal.timeout(patienceMs),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Refused(`HTTP ${response.status}`);
    }
    const promised = Number(response.headers.get('content-length'));
    const from = Number(/^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1] ?? 0);
    const chunks: Uint8Array[] = [];
    let received = 0;
    try {
      for await (const chunk of response.body!) {
        chunks.push(chunk);
        received += chunk.length;
      }
    } finally {
      const requestId = response.headers.get('x-request-id');
      if (requestId && received > 0) {
        const isWhole = received === promised;
        note({ requestId, from, to: from + received, isWhole, endedMs: performance.now() });
      }
    }
    if (received !== promised) throw new Refused('broken off');
    return Buffer.concat(chunks);
  }
  return take;
}
