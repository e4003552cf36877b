import type { Logger } from '@longwave/service-kit';
import type { Redis } from 'ioredis';
import { runScript, scriptOf } from '../redis-script.ts';
import { parseRecord, putServings, recordLifeMs, type ServingEntry } from './listener-record.ts';

/** The listener's key as the caller gives it: 16 bytes in hex each. */
export interface ListenerBuckets {
  readonly current: string;
  /** The same listener under the previous month's secret; undefined after the first two days of a month. */
  readonly previous: string | undefined;
}

/** The servings to a listener, as stored now. */
export interface ListenerRecord {
  readonly key: string;
  /** The stored record of the current bucket or "", which a write expects to find unchanged. */
  readonly text: string;
  /** Of both buckets. */
  readonly entries: readonly ServingEntry[];
}

export interface ListenerMemory {
  /** Undefined while Redis does not answer. */
  read(workspaceId: string, buckets: ListenerBuckets): Promise<ListenerRecord | undefined>;
  /**
   * Keeps exactly these servings of the decision. Answers the record as it then is, `changed` when another decision wrote meanwhile,
   * undefined when Redis does not answer.
   */
  write(
    record: ListenerRecord,
    decisionId: string,
    capKeys: readonly string[],
    atMs: number,
  ): Promise<ListenerRecord | 'changed' | undefined>;
  /** Removes the records of listeners in a workspace; answers how many there were. Rejects while Redis does not answer. */
  forget(workspaceId: string, buckets: readonly string[]): Promise<number>;
}

/** Key: a record. Arguments: what it must be now, what it becomes, how long it lives in ms. */
const exchangeScript = scriptOf(`
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`);

/** Listeners' records in Redis: one small text each, read once a play and exchanged whole, so that a cap is never exceeded. */
export function createListenerMemory(redis: Redis, logger: Logger): ListenerMemory {
  const unavailable = (error: unknown) => {
    logger.warn({ reason: (error as Error).message }, 'listeners.unavailable');
    return undefined;
  };
  const keyOf = (workspaceId: string, bucket: string) => `listener:${workspaceId}:${bucket}`;
  return {
    async read(workspaceId, { current, previous }) {
      const keys = [current, ...(previous === undefined ? [] : [previous])].map((bucket) => keyOf(workspaceId, bucket));
      try {
        const texts = await redis.mget(...keys);
        return { key: keys[0]!, text: texts[0] ?? '', entries: texts.flatMap(parseRecord) };
      } catch (error) {
        return unavailable(error);
      }
    },

    async write(record, decisionId, capKeys, atMs) {
      const own = parseRecord(record.text);
      const earlier = record.entries.slice(own.length);
      const text = putServings(own, decisionId, capKeys, atMs);
      const after = { ...record, text, entries: [...parseRecord(text), ...earlier] };
      if (text === record.text) return after;
      try {
        const done = await runScript(redis, exchangeScript, [record.key], [record.text, text, recordLifeMs]);
        return done === 1 ? after : 'changed';
      } catch (error) {
        return unavailable(error);
      }
    },

    forget: async (workspaceId, buckets) =>
      buckets.length === 0 ? 0 : await redis.del(...buckets.map((bucket) => keyOf(workspaceId, bucket))),
  };
}
