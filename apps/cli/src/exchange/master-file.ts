import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { UsageError } from '../command.ts';

/** Length in bytes and digest of a file, as snapshots state them. */
interface Measured {
  readonly bytes: number;
  readonly digest: string;
}

/** Reads a master once, from this machine or from its address. Throws `UsageError` when it cannot be read. */
export async function measureFile(source: string): Promise<Measured> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of await open(source)) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${source} cannot be read: ${(error as Error).message}`);
  }
  return { bytes, digest: `sha256:${hash.digest('hex')}` };
}

export const isAddress = (source: string): boolean => /^https?:\/\//.test(source);

async function open(source: string): Promise<AsyncIterable<Uint8Array>> {
  if (!isAddress(source)) return createReadStream(source) as AsyncIterable<Uint8Array>;
  const response = await fetch(source);
  if (!response.ok || !response.body) throw new UsageError(`${source} answers ${response.status}.`);
  return response.body;
}
