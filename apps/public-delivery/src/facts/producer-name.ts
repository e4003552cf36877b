import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/** The name of the journal in a folder, kept beside it: the next process publishes facts that are left there under the same name. */
export async function readProducerName(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'producer');
  const stored = await readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return '';
    throw error;
  });
  if (stored.trim() !== '') return stored.trim();
  const name = randomUUID();
  const unfinished = `${file}.new`;
  await rm(unfinished, { force: true });
  const handle = await open(unfinished, 'wx');
  try {
    await handle.writeFile(`${name}\n`);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  return name;
}
