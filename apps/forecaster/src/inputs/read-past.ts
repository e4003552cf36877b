import type { SamplePlay } from '@longwave/forecasting';
import type { RpcClient } from '@longwave/rpc';
import type { PlayHour, ReadSampleResponse, SampleServiceService } from '@longwave/rpc/serving';
import { createGates } from '@longwave/service-kit';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Four whole weeks, so that each weekday counts alike. */
const sampleDays = 28;
/** Curves of episodes reach over 56 days, and their levels over the last eight episodes. */
const historyDays = 90;
/** Sampled plays of all workspaces that a process keeps: about a kilobyte each. */
const maxKeptPlays = 1_500_000;
/** Then all is read again: what an erasure has blanked since is not kept for longer. */
const maxKeptMs = dayMs;
/** Ads can be in every format that a play asks for: so says the plan of what is sold. */
const anyFormat = 'any';

/** The past of a workspace, up to a whole hour. */
export interface Past {
  readonly untilMs: number;
  /** Of the last 28 days, the oldest first. */
  readonly plays: readonly SamplePlay[];
  /** Opportunities of the last 90 days, the oldest first. */
  readonly hours: readonly PlayHour[];
}

/** Reads the past of a workspace as of a time. */
export type ReadPast = ((workspaceId: string, nowMs: number, deadlineMs: number) => Promise<Past>) & {
  /** Reads it before somebody asks. @returns whether it is kept: what was read for others is not forgotten for it */
  readonly ahead: (workspaceId: string, nowMs: number, deadlineMs: number) => Promise<boolean>;
};

/** A past with what the next question goes on from. */
interface KeptPast extends Past {
  readonly readUntilMs: number;
  /** When its first hours were read. */
  readonly beganMs: number;
}

export type SampleClient = RpcClient<typeof SampleServiceService>;

const milliseconds = z.bigint().transform(Number);
const layoutSchema = z.object({
  breaks: z.array(
    z.object({
      key: z.string(),
      position: z.enum(['pre', 'mid', 'post']),
      maxSlots: z.int(),
      maxDurationMs: milliseconds,
      positionMs: milliseconds,
      slotRules: z.array(
        z.object({
          slot: z.int(),
          maxDurationMs: milliseconds,
          lineItemTypes: z.array(z.enum(['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house'])),
          productions: z.array(z.enum(['host_read', 'producer_read', 'produced'])),
        }),
      ),
    }),
  ),
});

/** Sampled plays of a message; their breaks and lists are shared, because there are few different ones. */
function playsOf({ plays, layouts }: ReadSampleResponse): SamplePlay[] {
  const breaks = layouts.map((layout) => layoutSchema.parse(layout).breaks);
  return plays.map((play) => ({
    atMs: Number(play.atMs),
    podcastId: play.podcastId,
    episodeId: play.episodeId,
    country: play.country,
    region: play.region,
    device: play.device,
    operatingSystem: play.operatingSystem,
    app: play.app,
    surface: play.surface,
    language: play.language,
    explicit: play.explicit,
    contentCategories: play.contentCategories,
    publishedAtMs: Number(play.publishedAtMs),
    adLoadLimitMs: play.adLoadLimitMs === 0n ? undefined : Number(play.adLoadLimitMs),
    streamFormat: anyFormat,
    breaks: breaks[play.layout]!,
    listener: Buffer.from(play.listener).toString('hex'),
    weight: play.weight,
    lineItemIds: play.lineItemIds,
    noAdReason: play.noAdReason,
  }));
}

type Lists = Pick<Past, 'plays' | 'hours'>;

const hasAll = (one: Lists, other: Lists) =>
  one.plays.length === other.plays.length && one.hours.length === other.hours.length;

const since = <T>(list: readonly T[], fromMs: number, atOf: (item: T) => number): T[] =>
  list.filter((item) => atOf(item) >= fromMs);

const sizeOf = ({ plays, hours }: Lists) => 1 + plays.length + Math.ceil(hours.length / 4);

/**
 * Reads the past of workspaces and keeps it: the next question reads only the hours that were not there before. Who asks while it is read for
 * somebody else waits for that.
 * @param maxSize sampled plays of all workspaces that are kept
 */
export function createReadPast(
  client: Pick<SampleClient, 'readSample' | 'readPlayHours'>,
  maxSize = maxKeptPlays,
): ReadPast {
  const kept = new LRUCache<string, KeptPast>({
    maxSize,
    sizeCalculation: sizeOf,
  });
  const oneAtATime = createGates(1);
  const read = async (
    workspaceId: string,
    nowMs: number,
    deadlineMs: number,
    hasRoom: (size: number) => boolean = () => true,
  ): Promise<Past> => {
    const untilMs = Math.floor(nowMs / hourMs) * hourMs;
    const [sampleFromMs, historyFromMs] = [untilMs - sampleDays * dayMs, untilMs - historyDays * dayMs];
    const before = kept.get(workspaceId);
    const isGood = before && before.readUntilMs <= untilMs && nowMs - before.beganMs < maxKeptMs;
    const known = isGood ? before : { readUntilMs: 0, plays: [], hours: [], beganMs: nowMs };
    if (before?.readUntilMs === untilMs) return before;
    const range = (fromMs: number, toMs: number) => ({
      workspaceId,
      fromMs: BigInt(Math.min(toMs, Math.max(fromMs, known.readUntilMs))),
      toMs: BigInt(toMs),
    });
    const plays = since(known.plays, sampleFromMs, ({ atMs }) => atMs);
    const hours = since(known.hours, historyFromMs, ({ hourMs: atMs }) => Number(atMs));
    const isCut = !hasAll(known, { plays, hours });
    for await (const message of client.readPlayHours(range(historyFromMs, untilMs), { deadlineMs }))
      hours.push(...message.hours);
    // Hours are sampled one after the other, plays and sums at once, and the sampling may be hours behind: what comes after the last hour
    // that is there is read again.
    const last = hours.at(-1);
    const readUntilMs = last ? Number(last.hourMs) + hourMs : 0;
    for await (const message of client.readSample(range(sampleFromMs, readUntilMs), { deadlineMs }))
      plays.push(...playsOf(message));
    // Findings about them are kept as long as they are the same objects: until the last hour is sampled every question comes here.
    const lists =
      !isCut && hasAll(known, { plays, hours }) ? { plays: known.plays, hours: known.hours } : { plays, hours };
    const past = { untilMs: lastCompleteMs(hours, untilMs), ...lists, readUntilMs, beganMs: known.beganMs };
    if (before || hasRoom(sizeOf(past))) kept.set(workspaceId, past);
    return past;
  };
  return Object.assign(
    (workspaceId: string, nowMs: number, deadlineMs: number) =>
      oneAtATime(workspaceId)(() => read(workspaceId, nowMs, deadlineMs)),
    {
      ahead: async (workspaceId: string, nowMs: number, deadlineMs: number) => {
        const hasRoom = (size: number) => kept.calculatedSize + size <= maxSize;
        await oneAtATime(workspaceId)(() => read(workspaceId, nowMs, deadlineMs, hasRoom));
        return kept.has(workspaceId);
      },
    },
  );
}

/** The last hour is there, or it is sampled some minutes from now. */
function lastCompleteMs(hours: readonly PlayHour[], untilMs: number): number {
  const last = hours.at(-1);
  return last && Number(last.hourMs) + hourMs >= untilMs ? untilMs : untilMs - hourMs;
}
