import { canonicalFormat } from '@longwave/audio';
import { adTrackSchema, type AdTrack } from '@longwave/events';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type {
  DecideRequest,
  DecideResponse,
  HlsTrack,
  Pick as AdPick,
  ServingServiceService,
} from '@longwave/rpc/serving';
import type { BreakPosition } from '../projection/break-plan.ts';
import { slotName, type FilledBreak } from '../arrangements/arranged-breaks.ts';
import { adPicturesSchema, type AdPictures } from './ad-pictures.ts';
import { clickUrlSchema, type CountedAds, type PlayAds } from './play-ads.ts';

export type ServingClient = Pick<RpcClient<typeof ServingServiceService>, 'decide'>;

/** Why there is no decision; the listener gets content without ads. */
export const noDecisionReasons = [
  'late',
  'unreachable',
  'overloaded',
  'failed',
  'invalid_answer',
  'segment_unavailable',
] as const;
type NoDecisionReason = (typeof noDecisionReasons)[number];

export type Decision =
  | ({ readonly decided: true } & PlayAds)
  /** `error` is what no reason has a name for. */
  | { readonly decided: false; readonly reason: NoDecisionReason; readonly error?: unknown };

type RequestedBreak = DecideRequest['breaks'][number];

const digestPattern = /^[0-9a-f]{64}$/;

/** True when an ad fits into its slot. The answer does not tell the type of its line item, so that is not checked. */
function fits(
  { slot, durationMs, sizeBytes, segmentDigest }: AdPick,
  { maxSlots, slotRules }: RequestedBreak,
): boolean {
  const longestMs = slotRules.find((rule) => rule.slot === slot)?.maxDurationMs ?? 0n;
  const isWhole = sizeBytes > 0n && sizeBytes % BigInt(canonicalFormat.frameSizeBytes) === 0n;
  const isExact = durationMs === (sizeBytes / BigInt(canonicalFormat.frameSizeBytes)) * BigInt(canonicalFormat.frameMs);
  return (
    Number.isInteger(slot) &&
    slot >= 0 &&
    slot < maxSlots &&
    digestPattern.test(segmentDigest) &&
    isWhole &&
    isExact &&
    (longestMs === 0n || durationMs <= longestMs)
  );
}

const trackFields = ({ codec, digest, sizeBytes, durationMs, indexDigest, indexSizeBytes }: HlsTrack) => ({
  ...{ codec, digest, index_digest: indexDigest },
  ...{ size_bytes: Number(sizeBytes), duration_ms: Number(durationMs), index_size_bytes: Number(indexSizeBytes) },
});

/** An ad whose track is not valid stays, without one. */
function readTrack(hls: AdPick['hls']): { readonly hls?: AdTrack } {
  const { success, data } = adTrackSchema.safeParse(hls && trackFields(hls));
  return success ? { hls: data } : {};
}

/** An ad that lacks a size of its picture stays, without pictures. */
function readPictures(pictures: AdPick['pictures']): { readonly pictures?: AdPictures } {
  const named = pictures.map(({ name, track, width, height, frameRateFrames: frames, frameRateSeconds: seconds }) => [
    name,
    track && { ...trackFields(track), width, height, frame_rate: { frames, seconds } },
  ]);
  const { success, data } = adPicturesSchema.safeParse(Object.fromEntries(named));
  return success ? { pictures: data } : {};
}

const lengthOf = (picks: readonly AdPick[]): bigint => picks.reduce((sum, { durationMs }) => sum + durationMs, 0n);

/** The ads of one break, or undefined when they are not what was asked. */
function readBreak(asked: RequestedBreak, picks: readonly AdPick[]): FilledBreak | undefined {
  const distinct = new Set(picks.map(({ slot }) => slot)).size === picks.length;
  if (!distinct || lengthOf(picks) > asked.maxDurationMs || !picks.every((pick) => fits(pick, asked))) return undefined;
  const ads = picks
    .toSorted((a, b) => a.slot - b.slot)
    .map(({ segmentDigest: digest, sizeBytes, durationMs, slot, hls, pictures }) => ({
      ...{ digest, sizeBytes: Number(sizeBytes), durationMs: Number(durationMs) },
      ...{ kind: 'ad' as const, slot: slotName(asked.key, slot) },
      ...readTrack(hls),
      ...readPictures(pictures),
    }));
  return { key: asked.key, position: asked.position as BreakPosition, contentMs: Number(asked.positionMs), ads };
}

const countedOf = (pick: AdPick): CountedAds[string] => ({
  serving_id: pick.servingId,
  campaign_id: pick.campaignId,
  line_item_id: pick.lineItemId,
  creative_id: pick.creativeId,
  break_key: pick.breakKey,
  slot: pick.slot,
  billable: pick.billable,
  // An ad whose address is not valid stays, without a click.
  ...(clickUrlSchema.safeParse(pick.clickUrl).success && { click_url: pick.clickUrl }),
});

/** The breaks of an answer in the order of the request; `invalid_answer` when it does not fit the request. */
export function readAnswer(
  { decisionId, breaks, adLoadLimitMs }: Pick<DecideRequest, 'decisionId' | 'breaks' | 'adLoadLimitMs'>,
  answer: DecideResponse,
): Decision {
  const invalid: Decision = { decided: false, reason: 'invalid_answer' };
  const byBreak = Map.groupBy(answer.picks, ({ breakKey }) => breakKey);
  const filled = breaks.flatMap((asked) => {
    const picks = byBreak.get(asked.key);
    byBreak.delete(asked.key);
    return picks ? [readBreak(asked, picks)] : [];
  });
  const tooMuch = adLoadLimitMs > 0n && lengthOf(answer.picks) > adLoadLimitMs;
  if (answer.decisionId !== decisionId || byBreak.size > 0 || tooMuch) return invalid;
  if (!filled.every((each) => each !== undefined)) return invalid;
  const counted = answer.picks.map((pick) => [slotName(pick.breakKey, pick.slot), countedOf(pick)] as const);
  return { decided: true, breaks: filled, counted: Object.fromEntries(counted) };
}

const reasons: Partial<Record<Problem['code'], NoDecisionReason>> = {
  timeout: 'late',
  temporarily_unavailable: 'unreachable',
};

/** Asks once, within the deadline. Never rejects: a failure is a reason of no decision. */
export async function decide(serving: ServingClient, request: DecideRequest, deadlineMs: number): Promise<Decision> {
  try {
    return readAnswer(request, await serving.decide(request, { deadlineMs }));
  } catch (error) {
    const reason = error instanceof Problem ? reasons[error.code] : undefined;
    return reason ? { decided: false, reason } : { decided: false, reason: 'failed', error };
  }
}
