import type { Window } from '@longwave/audience';
import { Dimension as WireDimension, Granularity, Window as WireWindow } from '@longwave/rpc/audience';
import { z } from 'zod';
import type { Dimension, DownloadBasis, HourRange } from './count-queries.ts';
import { resolveTimeZone } from './zoned-queries.ts';

const hourMs = 3_600_000;
const lastMs = BigInt(Date.UTC(2200, 0));

const id = z.string().min(1);
/** Empty on the wire: the whole podcast. */
const optionalId = z.string().transform((text) => text || undefined);

const wireRange = z
  .strictObject({ fromMs: z.bigint().min(0n).max(lastMs), toMs: z.bigint().min(0n).max(lastMs) })
  .refine(({ fromMs, toMs }) => fromMs < toMs, '“from” must be before “to”');

/** Counts are kept by the hour: a range grows to whole UTC hours. */
const inHours = ({ fromMs, toMs }: { fromMs: bigint; toMs: bigint }): HourRange => ({
  from: new Date(Math.floor(Number(fromMs) / hourMs) * hourMs),
  to: new Date(Math.ceil(Number(toMs) / hourMs) * hourMs),
});
export const range = wireRange.transform(inHours);

const dimensions = {
  [WireDimension.COUNTRY]: 'country',
  [WireDimension.REGION]: 'region',
  [WireDimension.APP]: 'app',
  [WireDimension.DEVICE]: 'device',
  [WireDimension.PLATFORM]: 'platform',
  [WireDimension.OPERATING_SYSTEM]: 'operatingSystem',
} as const satisfies Partial<Record<WireDimension, Dimension>>;

const dimension = z
  .enum(Object.keys(dimensions) as (keyof typeof dimensions)[], '“dimension” must name a dimension.')
  .transform((wire): Dimension => dimensions[wire]);

const windows = {
  [WireWindow.UNSPECIFIED]: 'calendar_utc',
  [WireWindow.CALENDAR_UTC]: 'calendar_utc',
  [WireWindow.FIRST_TOUCH_24H]: 'first_touch_24h',
  [WireWindow.LAST_TOUCH_24H]: 'last_touch_24h',
} as const satisfies Partial<Record<WireWindow, Window>>;

const wireWindows: Readonly<Record<Window, WireWindow>> = {
  calendar_utc: WireWindow.CALENDAR_UTC,
  first_touch_24h: WireWindow.FIRST_TOUCH_24H,
  last_touch_24h: WireWindow.LAST_TOUCH_24H,
};

/** The wire name of a window. */
export const wireWindow = (window: Window): WireWindow => wireWindows[window];

/** The name of a window on the wire; absent: the default. */
export const window = z
  .enum(
    Object.keys(windows) as (keyof typeof windows)[],
    '“window” must be calendar_utc, first_touch_24h or last_touch_24h.',
  )
  .optional();
/** The window of a name on the wire. */
export const windowOf = (wire: keyof typeof windows | undefined): Window => windows[wire ?? WireWindow.UNSPECIFIED];

const knownAtMs = z.bigint().min(0n).max(lastMs).optional();
const knownAtOf = (ms: bigint | undefined) => (ms === undefined ? undefined : new Date(Number(ms)));

/** Joins window and `knownAt` to a basis. */
function withBasis<R extends { readonly window?: keyof typeof windows; readonly knownAtMs?: bigint }>(request: R) {
  const { window: wire, knownAtMs: ms, ...rest } = request;
  const basis: DownloadBasis = { window: windowOf(wire), knownAt: knownAtOf(ms) };
  return { ...rest, basis };
}

/** A range grows to whole hours of UTC, because rollups are kept by them; where a zone is named, it is exact. */
export const downloadsRequest = z
  .strictObject({
    workspaceId: id,
    podcastId: id,
    episodeId: optionalId,
    range: wireRange,
    granularity: z.enum(Object.values(Granularity)),
    timeZone: z.string().max(64).transform(resolveTimeZone).optional(),
    window,
    knownAtMs,
  })
  .transform(withBasis)
  .transform((request) => {
    const { fromMs, toMs } = request.range;
    const exact: HourRange = { from: new Date(Number(fromMs)), to: new Date(Number(toMs)) };
    return { ...request, range: request.timeZone === undefined ? inHours(request.range) : exact };
  });

export const episodesRequest = z
  .strictObject({ workspaceId: id, podcastId: id, range, window, knownAtMs })
  .transform(withBasis);

export const episodeRangesRequest = z
  .strictObject({
    workspaceId: id,
    podcastId: id,
    episodes: z.array(z.strictObject({ episodeId: id, range })).max(5000),
    window,
    knownAtMs,
  })
  .transform(withBasis);

export const dimensionRequest = z
  .strictObject({ workspaceId: id, podcastId: id, episodeId: optionalId, range, dimension, window, knownAtMs })
  .transform(withBasis);

export const totalsRequest = z.strictObject({ workspaceId: id, podcastIds: z.array(id).max(1000), range });

export const firstDownloadsRequest = z.strictObject({ workspaceId: id, podcastIds: z.array(id).max(1000) });

const maxDays = 31n;
const shortRange = wireRange
  .refine(
    ({ fromMs, toMs }) => toMs - fromMs <= maxDays * 24n * BigInt(hourMs),
    `the range may span at most ${maxDays} days`,
  )
  .transform(inHours);

export const exportRequest = z.strictObject({ workspaceId: id, podcastId: id, range: shortRange });

export const adSeriesRequest = z.strictObject({
  workspaceId: id,
  podcastId: id,
  range,
  granularity: z.enum(Object.values(Granularity)),
});

export const adsRequest = z.strictObject({
  workspaceId: id,
  range,
  scope: z.strictObject({ $case: z.enum(['podcastId', 'campaignId', 'lineItemId', 'creativeId']), value: id }),
  knownAtMs: knownAtMs.transform(knownAtOf),
});

export const campaignsRequest = z.strictObject({
  workspaceId: id,
  campaignIds: z.array(id).max(1000),
  range,
  podcastId: id.optional(),
});
