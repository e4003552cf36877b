import type { Share } from '@longwave/ad-decision';
import type { Redis } from 'ioredis';
import { runScript, scriptOf } from '../redis-script.ts';

/** Servings and opportunities of one line item in one hour (Unix time in hours). */
export interface HourlyShare extends Share {
  readonly lineItemId: string;
  readonly hour: number;
}

export interface ShareCounts {
  /** Of the last 24 hours as far as this node knows: its own counts at once, those of other nodes as of the last exchange. */
  shareOf(lineItemId: string): Share;
  /** Counts a decision that was stored by this node. */
  count(atMs: number, opportunities: readonly string[], servings: readonly string[]): void;
  /** Adds this node's counts to the shared counters and reads their sums. Rejects when Redis or the database is away. */
  exchange(lineItemIds: readonly string[]): Promise<void>;
}

const hourMs = 3_600_000;
const windowHours = 24;
/** Counters outlive their window by a day. */
const counterLifeMs = 2 * windowHours * hourMs;

const counterKey = (lineItemId: string) => `share:${lineItemId}`;

/** Key: a counter. Arguments: its life in ms, then field, amount in turn. Adds; answers 0 when there is no counter. */
const addScript = scriptOf(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for i = 2, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`);

/** Key: a counter. Arguments: its life in ms, then field and least value in turn. Never lowers one. */
const raiseScript = scriptOf(`
for i = 2, #ARGV, 2 do
  local value = redis.call('HGET', KEYS[1], ARGV[i])
  if not value or tonumber(value) < tonumber(ARGV[i + 1]) then redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`);

type Hours = Map<number, { served: number; opportunities: number }>;

function addTo(hours: Hours, hour: number, served: number, opportunities: number): void {
  const before = hours.get(hour) ?? { served: 0, opportunities: 0 };
  hours.set(hour, { served: before.served + served, opportunities: before.opportunities + opportunities });
}

/** Fields `served:{hour}` and `opportunities:{hour}` of the hours of the window. */
function readFields(fields: Readonly<Record<string, string>>, firstHour: number): Hours {
  const hours: Hours = new Map();
  for (const [field, value] of Object.entries(fields)) {
    const [name, hourText] = field.split(':');
    const hour = Number(hourText);
    if (hour < firstHour) continue;
    if (name === 'served') addTo(hours, hour, Number(value), 0);
    if (name === 'opportunities') addTo(hours, hour, 0, Number(value));
  }
  return hours;
}

const fieldsOf = (hours: Hours) =>
  [...hours].flatMap(([hour, { served, opportunities }]) => [
    `served:${hour}`,
    served,
    `opportunities:${hour}`,
    opportunities,
  ]);

/**
 * Shares of sponsorships: per line item a hash of hourly counters in Redis, which all nodes add to once a second. Counters that may
 * have lost something (a new connection, a missing key, an addition without an answer) are raised to the counts of the stored decisions. While Redis is away
 * a node continues with its own counts.
 * @param countStored counts of the stored decisions since an hour
 */
export function createShareCounts(
  redis: Redis,
  countStored: (lineItemIds: readonly string[], sinceMs: number) => Promise<readonly HourlyShare[]>,
  clock: () => Date,
): ShareCounts {
  const known = new Map<string, Share>();
  let pending = new Map<string, Hours>();
  const trusted = new Set<string>();
  redis.on('close', () => trusted.clear());

  const firstHour = () => Math.floor(clock().getTime() / hourMs) - windowHours + 1;

  async function raise(lineItemIds: readonly string[]): Promise<void> {
    const stored = await countStored(lineItemIds, firstHour() * hourMs);
    for (const lineItemId of lineItemIds) {
      const hours: Hours = new Map();
      for (const one of stored)
        if (one.lineItemId === lineItemId) addTo(hours, one.hour, one.served, one.opportunities);
      // A counter of zeros says that nothing is missing.
      if (hours.size === 0) hours.set(firstHour(), { served: 0, opportunities: 0 });
      await runScript(redis, raiseScript, [counterKey(lineItemId)], [counterLifeMs, ...fieldsOf(hours)]);
      trusted.add(lineItemId);
    }
  }

  async function send(): Promise<void> {
    // Untrusted counters are raised from the stored decisions, which include these counts.
    const sending = [...pending].filter(([lineItemId]) => trusted.has(lineItemId));
    pending = new Map();
    for (const [lineItemId] of sending) trusted.delete(lineItemId);
    for (const [lineItemId, hours] of sending) {
      const added = await runScript(redis, addScript, [counterKey(lineItemId)], [counterLifeMs, ...fieldsOf(hours)]);
      if (added === 1) trusted.add(lineItemId);
    }
  }

  return {
    shareOf: (lineItemId) => known.get(lineItemId) ?? { served: 0, opportunities: 0 },

    count(atMs, opportunities, servings) {
      const hour = Math.floor(atMs / hourMs);
      const add = (lineItemId: string, served: number, offered: number) => {
        const before = known.get(lineItemId) ?? { served: 0, opportunities: 0 };
        known.set(lineItemId, { served: before.served + served, opportunities: before.opportunities + offered });
        const hours = pending.get(lineItemId) ?? new Map();
        pending.set(lineItemId, hours);
        addTo(hours, hour, served, offered);
      };
      for (const lineItemId of opportunities) add(lineItemId, 0, 1);
      for (const lineItemId of servings) add(lineItemId, 1, 0);
    },

    async exchange(lineItemIds) {
      await send();
      const untrusted = lineItemIds.filter((id) => !trusted.has(id));
      if (untrusted.length > 0) await raise(untrusted);
      const from = firstHour();
      await Promise.all(
        lineItemIds.map(async (lineItemId) => {
          let fields = await redis.hgetall(counterKey(lineItemId));
          if (Object.keys(fields).length === 0) {
            await raise([lineItemId]);
            fields = await redis.hgetall(counterKey(lineItemId));
          }
          const hours = readFields(fields, from);
          for (const [hour, { served, opportunities }] of pending.get(lineItemId) ?? [])
            addTo(hours, hour, served, opportunities);
          let share: Share = { served: 0, opportunities: 0 };
          for (const one of hours.values())
            share = { served: share.served + one.served, opportunities: share.opportunities + one.opportunities };
          known.set(lineItemId, share);
        }),
      );
      const current = new Set(lineItemIds);
      for (const lineItemId of known.keys()) if (!current.has(lineItemId)) known.delete(lineItemId);
    },
  };
}
