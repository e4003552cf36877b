import { canonicalFormat } from '@longwave/audio';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { DecideRequest, DecideResponse, ServingServiceService } from '@longwave/rpc/serving';
import type { ArrangedBlob } from '../media/arrangement.ts';
import type { CountedAds } from './play-table.ts';

export type ServingClient = Pick<RpcClient<typeof ServingServiceService>, 'decide'>;

/** Why there is no decision; the listener gets clean content. */
export type NoDecisionReason = 'late' | 'unreachable' | 'failed' | 'invalid_answer' | 'segment_unavailable';

export type Decision =
  | { readonly decided: true; readonly ads: readonly ArrangedBlob[]; readonly counted: CountedAds }
  | { readonly decided: false; readonly reason: NoDecisionReason };

/** The one break of this issue: before the content. */
const preRoll = { key: 'pre', position: 'pre', maxSlots: 1, maxDurationMs: 90_000n, positionMs: 0n, slotRules: [] };

/** What is not said of a play. */
const unsaid = {
  region: '',
  surface: 'progressive',
  device: '',
  app: '',
  language: '',
  explicit: false,
  contentCategories: [],
  publishedAtMs: 0n,
  loudnessCentilufs: 0,
  adLoadLimitMs: 0n,
  previousListenerBucket: Buffer.alloc(0),
};

const digestPattern = /^[0-9a-f]{64}$/;

/** The ads of an answer, or undefined when it is not an answer to what was asked. */
export function readAnswer(request: Pick<DecideRequest, 'decisionId' | 'breaks'>, answer: DecideResponse): Decision {
  const invalid: Decision = { decided: false, reason: 'invalid_answer' };
  const [asked] = request.breaks;
  if (!asked || answer.decisionId !== request.decisionId || answer.picks.length > asked.maxSlots) return invalid;
  const ads: ArrangedBlob[] = [];
  const counted: CountedAds = {};
  for (const pick of answer.picks) {
    const slot = `${pick.breakKey}/${pick.slot}`;
    const sizeBytes = Number(pick.sizeBytes);
    const fits = pick.durationMs > 0n && pick.durationMs <= asked.maxDurationMs;
    const whole = sizeBytes > 0 && sizeBytes % canonicalFormat.frameSizeBytes === 0;
    if (pick.breakKey !== asked.key || slot in counted || !digestPattern.test(pick.segmentDigest) || !fits || !whole)
      return invalid;
    ads.push({ digest: pick.segmentDigest, sizeBytes, durationMs: Number(pick.durationMs), kind: 'ad', slot });
    counted[slot] = {
      serving_id: pick.servingId,
      campaign_id: pick.campaignId,
      line_item_id: pick.lineItemId,
      creative_id: pick.creativeId,
      break_key: pick.breakKey,
      slot: pick.slot,
      billable: pick.billable,
    };
  }
  return { decided: true, ads, counted };
}

const reasons: Partial<Record<Problem['code'], NoDecisionReason>> = {
  timeout: 'late',
  temporarily_unavailable: 'unreachable',
};

/** Asks once, within the deadline. Never rejects: no answer is a reason. */
export async function decide(
  serving: ServingClient,
  play: Pick<
    DecideRequest,
    'decisionId' | 'workspaceId' | 'podcastId' | 'episodeId' | 'listenerBucket' | 'country' | 'atMs'
  >,
  deadlineMs: number,
): Promise<Decision> {
  const request: DecideRequest = { ...unsaid, ...play, breaks: [preRoll], streamFormat: canonicalFormat.name };
  try {
    return readAnswer(request, await serving.decide(request, { deadlineMs }));
  } catch (error) {
    return { decided: false, reason: (error instanceof Problem && reasons[error.code]) || 'failed' };
  }
}
