import { sleep } from '@longwave/worker-kit';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { BusLogger } from '../bus-logger.ts';
import { deliverInOrder, type DeliveryRules, type HeldMessage } from '../deliver-in-order.ts';
import { reportDeadLetter } from '../report-dead-letter.ts';
import { deadFields, rawEntry, tryParseEntry } from './redis-entry.ts';
import { redisKeys } from './redis-keys.ts';
import { buryScript, fetchScript, pendingScript, recordTryScript } from './redis-scripts.ts';

const blockMs = 2_000;
const errorPauseMs = 200;
const fetchReply = z.tuple([z.array(rawEntry), z.string()]);
const pendingReply = z.array(z.tuple([z.string(), z.number(), z.array(z.string())]));

export interface PartitionDuty {
  readonly redis: Redis;
  readonly topic: string;
  readonly group: string;
  readonly partition: number;
  /** Fencing token of the lease. */
  readonly token: string;
  readonly rules: DeliveryRules;
  readonly now: () => Date;
  readonly logger: BusLogger | undefined;
  readonly signal: AbortSignal;
}

interface Source {
  readonly stream: string;
  /** Redriven messages belong to this group alone, so they leave the stream when they are done. */
  readonly ownedByGroup: boolean;
  /** Keys that say what must come before new messages of this stream: see `fetchScript`. */
  readonly precedence: readonly string[];
}

/**
 * Delivers the messages of one partition as its owner until the signal or the loss of the lease; resolves when the message in
 * hand is finished. Redriven and archived messages go first, then pending ones, then new ones. After every loss of
 * connection or data it reads the pending ones again.
 */
export async function runPartition(duty: PartitionDuty): Promise<void> {
  const { redis, signal, topic, group, partition } = duty;
  const keys = redisKeys(topic);
  const redrive = keys.redrive(group, partition);
  const redriven: Source = { stream: redrive, ownedByGroup: true, precedence: [] };
  const main: Source = {
    stream: keys.stream(partition),
    ownedByGroup: false,
    precedence: [keys.archived(partition), redrive],
  };
  using doorbell = openDoorbell(redis, signal);
  let recovered = false;
  while (!signal.aborted) {
    try {
      if (!recovered) {
        for (const source of [main, redriven]) await ensureGroup(redis, source.stream, group);
        await deliverPending(duty, redriven);
        while ((await deliverNew(duty, redriven)) === undefined && !signal.aborted);
        await deliverPending(duty, main);
        recovered = true;
      }
      const redrivenEnd = await deliverNew(duty, redriven);
      const mainEnd = await deliverNew(duty, main);
      if (redrivenEnd === undefined || mainEnd === undefined || signal.aborted) continue;
      await doorbell.redis.xread(
        'COUNT',
        1,
        'BLOCK',
        blockMs,
        'STREAMS',
        main.stream,
        redriven.stream,
        mainEnd,
        redrivenEnd,
      );
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : 'unknown';
      duty.logger?.warn({ topic, group, partition, reason }, 'Reading a partition of the bus was interrupted');
      if (reason.startsWith('LEASELOST')) return;
      recovered = false;
      await sleep(errorPauseMs, signal);
    }
  }
}

/** A blocking read needs its own connection. */
function openDoorbell(redis: Redis, signal: AbortSignal) {
  // A command ends with its connection here too: ioredis never settles one that it keeps for a resend when the client disconnects
  // while the server is away, and closing would wait for it.
  const connection = redis.duplicate({ commandTimeout: undefined, socketTimeout: 5 * blockMs });
  connection.on('error', () => undefined);
  const disconnect = () => connection.disconnect();
  signal.addEventListener('abort', disconnect, { once: true });
  return {
    redis: connection,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', disconnect);
      if (!signal.aborted) disconnect();
    },
  };
}

async function ensureGroup(redis: Redis, stream: string, group: string): Promise<void> {
  try {
    await redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM');
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error;
  }
}

async function deliverPending(duty: PartitionDuty, source: Source): Promise<void> {
  for (;;) {
    const reply = await callAsOwner(duty, source, pendingScript, duty.rules.batchSize);
    const held = pendingReply.parse(reply).map(([id, tries, fields]) => tryParseEntry(duty.topic, [id, fields], tries));
    if (held.length === 0 || duty.signal.aborted) return;
    await deliverHeld(duty, source, held);
  }
}

/** Answers the last id of the stream when nothing was new, undefined otherwise. */
async function deliverNew(duty: PartitionDuty, source: Source): Promise<string | undefined> {
  const lease = redisKeys(duty.topic).lease(duty.group, duty.partition);
  const fetchKeys = [lease, source.stream, ...source.precedence];
  const { token, group, rules } = duty;
  const reply = await duty.redis.eval(fetchScript, fetchKeys.length, ...fetchKeys, token, group, rules.batchSize);
  const [entries, lastId] = fetchReply.parse(reply);
  if (entries.length === 0) return lastId;
  await deliverHeld(
    duty,
    source,
    entries.map((entry) => tryParseEntry(duty.topic, entry, 0)),
  );
  return undefined;
}

async function deliverHeld(duty: PartitionDuty, source: Source, held: HeldMessage[]): Promise<void> {
  const { redis, topic, group, rules, signal, token } = duty;
  const keys = redisKeys(topic);
  const lease = keys.lease(group, duty.partition);
  while (held.length > 0 && !signal.aborted) {
    const delayMs = await deliverInOrder(held, rules, {
      async recordTry(chunk) {
        // XREADGROUP has counted the first try.
        for (const { position, tries } of chunk) {
          if (tries > 0) await callAsOwner(duty, source, recordTryScript, position, tries + 1);
        }
      },
      async acknowledge(chunk) {
        const ids = chunk.map(({ position }) => position);
        const transaction = redis.multi().xack(source.stream, group, ...ids);
        if (source.ownedByGroup) transaction.xdel(source.stream, ...ids);
        await transaction.exec();
      },
      async bury(one, error) {
        const fields = deadFields(one, error, duty.now());
        const remove = source.ownedByGroup ? 1 : 0;
        await redis.eval(
          buryScript,
          3,
          lease,
          source.stream,
          keys.dead(group),
          token,
          group,
          one.position,
          remove,
          ...fields,
        );
        reportDeadLetter(duty, one);
      },
      stopping: () => signal.aborted,
    });
    if (delayMs !== undefined) await sleep(delayMs, signal);
  }
}

function callAsOwner(
  duty: PartitionDuty,
  source: Source,
  script: string,
  ...args: (string | number)[]
): Promise<unknown> {
  const lease = redisKeys(duty.topic).lease(duty.group, duty.partition);
  return duty.redis.eval(script, 2, lease, source.stream, duty.token, duty.group, ...args);
}
