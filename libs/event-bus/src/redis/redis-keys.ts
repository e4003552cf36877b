import { crc32 } from 'node:zlib';

/** Every Redis key of one topic. `p` is a partition, from 0. */
export function redisKeys(topic: string) {
  const base = `bus:${topic}`;
  return {
    partitions: `${base}:partitions`,
    stream: (p: number) => `${base}:${p}`,
    /** The last id that left the stream for the archive. */
    archived: (p: number) => `${base}:archived:${p}`,
    dead: (group: string) => `${base}:dead:${group}`,
    redrive: (group: string, p: number) => `${base}:redrive:${group}:${p}`,
    lease: (group: string, p: number) => `${base}:lease:${group}:${p}`,
    members: (group: string) => `${base}:members:${group}`,
    fence: (group: string) => `${base}:fence:${group}`,
  };
}

/** The lock of the one process that archives streams; others wait. */
export const archiverLockKey = 'bus:archiver';

/** The partition of a message key: CRC-32 of its UTF-8 bytes modulo the number of partitions. */
export function partitionOfKey(key: string, partitions: number): number {
  return crc32(key) % partitions;
}
