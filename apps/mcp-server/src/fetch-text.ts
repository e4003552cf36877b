import { Readable } from 'node:stream';
import { boundedBytes } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';

const maxWaitMs = 10_000;
const maxTextBytes = 16 * 1024 * 1024;

/** A text of a media type. */
export interface Content {
  readonly mimeType: string;
  readonly text: string;
}

/**
 * A public text of this installation. No redirect is followed: where a feed has moved to is another host's affair, and asking that host from
 * here would show an agent what only this network can see. Throws `not_found` when the text is not there.
 */
export async function fetchText(url: string, mimeType: string): Promise<Content> {
  const signal = AbortSignal.timeout(maxWaitMs);
  const answer = await fetch(url, { signal, redirect: 'manual' }).catch((cause: unknown) => {
    throw new Problem('temporarily_unavailable', undefined, { cause });
  });
  if (!answer.ok || !answer.body) {
    await answer.body?.cancel();
    throw new Problem('not_found');
  }
  const tooLarge = () => new Problem('payload_too_large', 'The text is larger than 16 MiB.');
  const chunks: Buffer[] = [];
  for await (const chunk of boundedBytes(Readable.fromWeb(answer.body), maxTextBytes, tooLarge)) chunks.push(chunk);
  return { mimeType, text: Buffer.concat(chunks).toString() };
}
