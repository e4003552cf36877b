import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { createInterface } from 'node:readline';
import type { BackupFile } from './manifest.ts';

/** Passes bytes on and hashes them. */
function digesting() {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ sha256: hash.digest('hex'), size_bytes: sizeBytes }) };
}

const unfinishedPrefix = '.unfinished-';

/** Whether a file is one that `writeDigested` did not write to its end. */
export const isUnfinished = (name: string): boolean => /^\.unfinished-[0-9a-f-]{36}$/.test(name);

/** Makes a file durable before its name is. */
async function publish(unfinished: string, target: string): Promise<void> {
  const handle = await open(unfinished, 'r+');
  await handle.sync();
  await handle.close();
  await rename(unfinished, target);
}

/**
 * Writes a stream to a file that its owner alone reads, under its name once it is whole and on the disk; answers digest and size of the file.
 * @param target its path, or how it follows from the digest of its bytes
 */
export async function writeDigested(
  source: Readable,
  target: string | { readonly folder: string; readonly nameOf: (sha256: string) => string },
): Promise<Omit<BackupFile, 'path'>> {
  const folder = typeof target === 'string' ? path.dirname(target) : target.folder;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const unfinished = path.join(folder, `${unfinishedPrefix}${randomUUID()}`);
  try {
    const { stream, result } = digesting();
    await pipeline(source, stream, createWriteStream(unfinished, { mode: 0o600 }));
    const found = result();
    const final = typeof target === 'string' ? target : target.nameOf(found.sha256);
    await mkdir(path.dirname(final), { recursive: true, mode: 0o700 });
    await publish(unfinished, final);
    return found;
  } catch (error) {
    source.destroy();
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** A file to read, and the digest of what was read of it. */
export function digestedSource(file: string): { readonly source: Readable; readonly digest: () => string } {
  const { stream, result } = digesting();
  const input = createReadStream(file);
  input.once('error', (error) => stream.destroy(error));
  return { source: input.pipe(stream), digest: () => result().sha256 };
}

/** The digest and size of a file. */
export async function digestOf(file: string): Promise<Omit<BackupFile, 'path'>> {
  const { stream, result } = digesting();
  await pipeline(createReadStream(file), stream.resume());
  return result();
}

/** Writes lines to a gzipped file; answers digest and size of the file, and how many lines. */
export async function writeLines(
  file: string,
  lines: AsyncIterable<string>,
): Promise<Omit<BackupFile, 'path'> & { readonly lines: number }> {
  let count = 0;
  async function* ended() {
    for await (const line of lines) {
      count += 1;
      yield `${line}\n`;
    }
  }
  const gzip = createGzip();
  const [written] = await Promise.all([writeDigested(gzip, file), pipeline(Readable.from(ended()), gzip)]);
  return { ...written, lines: count };
}

/** The lines of a gzipped file. */
export const readLines = (file: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(file).pipe(createGunzip()), crlfDelay: Infinity });

export const sizeOf = async (file: string): Promise<number | undefined> =>
  (await stat(file).catch(() => undefined))?.size;
