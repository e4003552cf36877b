import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { ObjectStore } from '@longwave/object-store';
import { z } from 'zod';
import { rawEntry, type RawEntry } from './redis-entry.ts';
import { isBefore, sortableId } from './stream-id.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);
const entriesSchema = z.array(rawEntry);
const nameSchema = /\/(\d{16})-(\d{20})_\d{16}-\d{20}\.json\.gz$/;

/** The part of an object store that the archive uses. */
export type ArchiveStore = Pick<ObjectStore, 'put' | 'get' | 'list' | 'remove'>;

/**
 * Entries of one stream that left Redis, in the object store: gzipped JSON arrays of `[id, fields]`, named
 * `bus/{topic}/{partition}/{last id}_{first id}.json.gz` with padded numbers, so that keys sort like ids.
 */
export function streamArchive(store: ArchiveStore, topic: string, partition: number) {
  const prefix = `bus/${topic}/${partition}/`;
  return {
    /** Stores entries in the order of their ids. The same entries again replace the same object. */
    async write(entries: readonly RawEntry[]): Promise<void> {
      const [first, last] = [entries[0], entries.at(-1)];
      if (first === undefined || last === undefined) return;
      const body = await compress(JSON.stringify(entries));
      const key = `${prefix}${sortableId(last[0])}_${sortableId(first[0])}.json.gz`;
      await store.put(key, body, { contentType: 'application/gzip' });
    },

    /** The entries behind `afterId` in the order of their ids, one object at a time. */
    async *readAfter(afterId: string): AsyncGenerator<RawEntry[]> {
      for await (const { key } of store.list(prefix, { after: `${prefix}${sortableId(afterId)}~` })) {
        const chunks: Buffer[] = [];
        for await (const chunk of (await store.get(key)) as AsyncIterable<Buffer>) chunks.push(chunk);
        const json = (await decompress(Buffer.concat(chunks))).toString();
        yield entriesSchema.parse(JSON.parse(json)).filter(([id]) => isBefore(afterId, id));
      }
    },

    /** Removes objects whose last entry was published before `time`; answers how many. */
    async removeBefore(time: Date): Promise<number> {
      let removed = 0;
      for await (const { key } of store.list(prefix)) {
        const [, millis] = nameSchema.exec(key) ?? [];
        if (millis === undefined || Number(millis) >= time.getTime()) return removed;
        await store.remove(key);
        removed += 1;
      }
      return removed;
    },
  };
}
