import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';

/** A short-lived address of a file, and the SHA-256 of its bytes in hex. */
export const signedFileSchema = z.looseObject({ url: z.url(), sha256: z.string() });

/** Writes the file at a signed address. Throws when its bytes are not those of the digest. */
export async function writeSignedFile(
  { url, sha256 }: z.infer<typeof signedFileSchema>,
  out: NodeJS.WritableStream,
): Promise<void> {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`The object store answered ${response.status}. Ask again.`);
  const hash = createHash('sha256');
  for await (const chunk of Readable.fromWeb(response.body) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (!out.write(chunk)) await new Promise((done) => void out.once('drain', done));
  }
  if (hash.digest('hex') !== sha256) throw new Error('The file was cut off or changed on its way. Ask again.');
}
