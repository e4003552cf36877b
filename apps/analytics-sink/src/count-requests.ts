import { Dimension as WireDimension, Granularity } from '@longwave/rpc/audience';
import { z } from 'zod';
import type { Dimension, HourRange } from './count-queries.ts';
import { resolveTimeZone } from './zoned-queries.ts';

const hourMs = 3_600_000;
const lastMs = BigInt(Date.UTC(2200, 0));

const id = z.string().min(1);
/** Empty on the wire: the whole podcast. */
const optionalId = z.string().transform((text) => text || undefined);

const wireRange = z
  .strictObject({ fromMs: z.bigint().min(0n).max(lastMs), toMs: z.bigint().min(0n).max(lastMs) })
  .refine(({ fromMs, toMs }) => fromMs < toMs, 'from must come before to');

/** Counts are kept by the hour: a range grows to whole UTC hours. */
const inHours = ({ fromMs, toMs }: { fromMs: bigint; toMs: bigint }): HourRange => ({
  from: new Date(Math.floor(Number(fromMs) / hourMs) * hourMs),
  to: new Date(Math.ceil(Number(toMs) / hourMs) * hourMs),
});
const range = wireRange.transform(inHours);

const dimensions = {
  [WireDimension.COUNTRY]: 'country',
  [WireDimension.REGION]: 'region',
  [WireDimension.APP]: 'app',
  [WireDimension.DEVICE]: 'device',
  [WireDimension.PLATFORM]: 'platform',
} as const satisfies Partial<Record<WireDimension, Dimension>>;

const dimension = z
  .enum(Object.keys(dimensions) as (keyof typeof dimensions)[], 'Name a dimension.')
  .transform((wire): Dimension => dimensions[wire]);

/** A range grows to whole hours of UTC, because rollups are kept by them; where a zone is named, it is exact. */
export const downloadsRequest = z
  .strictObject({
    workspaceId: id,
    podcastId: id,
    episodeId: optionalId,
    range: wireRange,
    granularity: z.enum(Object.values(Granularity)),
    timeZone: z.string().max(64).transform(resolveTimeZone).optional(),
  })
  .transform((request) => {
    const { fromMs, toMs } = request.range;
    const exact: HourRange = { from: new Date(Number(fromMs)), to: new Date(Number(toMs)) };
    return { ...request, range: request.timeZone === undefined ? inHours(request.range) : exact };
  });

export const episodesRequest = z.strictObject({ workspaceId: id, podcastId: id, range });

export const dimensionRequest = z.strictObject({
  workspaceId: id,
  podcastId: id,
  episodeId: optionalId,
  range,
  dimension,
});

export const totalsRequest = z.strictObject({ workspaceId: id, podcastIds: z.array(id).max(1000), range });

const exportDaysMax = 31n;

export const exportRequest = z.strictObject({
  workspaceId: id,
  podcastId: id,
  range: wireRange
    .refine(
      ({ fromMs, toMs }) => toMs - fromMs <= exportDaysMax * 24n * BigInt(hourMs),
      `an export spans at most ${exportDaysMax} days`,
    )
    .transform(inHours),
});

export const adsRequest = z.strictObject({
  workspaceId: id,
  range,
  scope: z.strictObject({ $case: z.enum(['podcastId', 'campaignId', 'lineItemId']), value: id }),
});
