import { existsSync } from 'node:fs';
import type { ObjectStore } from '@longwave/object-store';
import pMap from 'p-map';
import { digestedSource } from '../backup/digested-file.ts';
import { objectFile, type ObjectLine } from '../backup/manifest.ts';

const concurrency = 4;

/**
 * Puts the objects of a backup into a store. Each is read and hashed on the way: rejects when one is not what the backup says.
 * @param lines from `objects.jsonl.gz`
 */
export async function putObjects(
  store: Pick<ObjectStore, 'put'>,
  folder: string,
  lines: AsyncIterable<ObjectLine>,
  onPut: (count: number) => void,
): Promise<void> {
  let put = 0;
  await pMap(
    lines,
    async ({ key, sha256, size_bytes: sizeBytes, content_type: contentType }) => {
      if (!existsSync(objectFile(folder, sha256))) throw new Error(`The backup lacks the object ${key}.`);
      const { source, digest } = digestedSource(objectFile(folder, sha256));
      await store.put(key, source, { contentType, sizeBytes });
      if (digest() !== sha256) throw new Error(`The backup’s copy of the object ${key} is damaged: its bytes changed.`);
      put += 1;
      onPut(put);
    },
    { concurrency },
  );
}
