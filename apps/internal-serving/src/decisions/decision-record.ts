import { hash } from 'node:crypto';
import {
  seedOf,
  type Decision,
  type DecisionContext,
  type PolicyVersion,
  type RecordedInputs,
} from '@longwave/ad-decision';
import type { AdPicture, AdTrack } from '@longwave/events';
import { idFromBytes } from '@longwave/ids';
import type { DecideResponse, HlsTrack } from '@longwave/rpc/serving';
import type { CurrentPlan } from '../plans/current-plans.ts';
import type { PlayRequest } from './play-request.ts';

/** The answer as it is stored. */
export interface StoredAnswer {
  readonly decision_id: string;
  readonly serving_plan_id: string;
  readonly picks: readonly {
    readonly break_key: string;
    readonly slot: number;
    readonly serving_id: string;
    readonly campaign_id: string;
    readonly line_item_id: string;
    readonly creative_id: string;
    readonly segment_digest: string;
    readonly size_bytes: number;
    readonly duration_ms: number;
    /** Absent unless the request asked for it. */
    readonly hls?: AdTrack | undefined;
    /** Absent unless the request asked for them. */
    readonly pictures?: readonly AdPicture[] | undefined;
    readonly click_url: string;
    readonly billable: boolean;
  }[];
  readonly no_ad_reason: string;
}

/** Follows from decision and slot alone, so that every node and every retry names the same serving. */
export function servingIdOf(decisionId: string, breakKey: string, slot: number): string {
  const digest = hash('sha256', `${decisionId}\n${breakKey}\n${slot}`, 'buffer');
  return idFromBytes('srv', digest.subarray(0, 16));
}

/** Its keys come in the order of JCS (RFC 8785). */
const storedTrack = (track: AdTrack): AdTrack => ({
  codec: track.codec,
  digest: track.digest,
  duration_ms: track.duration_ms,
  index_digest: track.index_digest,
  index_size_bytes: track.index_size_bytes,
  size_bytes: track.size_bytes,
});

/** Its keys come in the order of JCS (RFC 8785). */
const storedPicture = (picture: AdPicture): AdPicture => ({
  codec: picture.codec,
  digest: picture.digest,
  duration_ms: picture.duration_ms,
  frame_rate: { frames: picture.frame_rate.frames, seconds: picture.frame_rate.seconds },
  height: picture.height,
  index_digest: picture.index_digest,
  index_size_bytes: picture.index_size_bytes,
  name: picture.name,
  size_bytes: picture.size_bytes,
  width: picture.width,
});

/** The answer to store and give; its keys come in the order of JCS (RFC 8785). */
export function answerOf(decisionId: string, servingPlanId: string | undefined, decision: Decision): StoredAnswer {
  return {
    decision_id: decisionId,
    no_ad_reason: decision.noAdReason ?? '',
    picks: decision.picks.map((pick) => ({
      billable: pick.billable,
      break_key: pick.breakKey,
      campaign_id: pick.campaignId,
      click_url: pick.clickUrl ?? '',
      creative_id: pick.creativeId,
      duration_ms: pick.durationMs,
      ...(pick.hls && { hls: storedTrack(pick.hls) }),
      line_item_id: pick.lineItemId,
      ...(pick.pictures && { pictures: pick.pictures.map(storedPicture) }),
      segment_digest: pick.segmentDigest,
      serving_id: servingIdOf(decisionId, pick.breakKey, pick.slot),
      size_bytes: pick.sizeBytes,
      slot: pick.slot,
    })),
    serving_plan_id: servingPlanId ?? '',
  };
}

/** All inputs of a decision besides its plan, enough to repeat it. No listener key. */
export interface StoredInputs {
  readonly context: DecisionContext;
  readonly told: RecordedInputs;
  /** SHA-256 (hex) of the active suspensions (`suspension_set`); null when there were none. */
  readonly suspensions: string | null;
  /** SHA-256 (hex) of the plan's policies; absent when it had none. */
  readonly policies?: string;
  /** The entries of this decision in the listener's record, one per serving and cap. */
  readonly cap_keys: readonly string[];
}

/** The trace of a decision, without the other columns of its row. */
export interface StoredTrace {
  readonly index_version: string | null;
  readonly request_class: {
    readonly podcast_id: string;
    readonly episode_id: string;
    readonly country: string;
    readonly listener_bucket: 'present' | 'absent';
  };
  readonly stages: readonly unknown[];
  readonly candidates: readonly unknown[];
  /** The policies that the play was decided under; absent in traces that are older than policies. */
  readonly policy_versions?: readonly PolicyVersion[];
  readonly seed: number;
  readonly input_digest: string;
  readonly output_digest: string;
}

/** SHA-256 (hex) over JCS (RFC 8785) of an answer. */
export const outputDigestOf = (answer: StoredAnswer): string => hash('sha256', JSON.stringify(answer), 'hex');

/** What a trace says of the play: no listener key, only whether there was one. */
export function requestClassOf(context: DecisionContext, hasListener: boolean): StoredTrace['request_class'] {
  const requestClass = {
    podcast_id: context.podcastId,
    episode_id: context.episodeId,
    country: context.country,
    region: context.region,
    surface: context.surface,
    device: context.device,
    operating_system: context.operatingSystem,
    app: context.app,
    language: context.language,
    explicit: context.explicit,
    content_categories: context.contentCategories,
    stream_format: context.streamFormat,
    ...(context.streamFormats && { stream_formats: context.streamFormats }),
    listener_bucket: hasListener ? ('present' as const) : ('absent' as const),
    breaks: context.breaks.map((one) => ({
      key: one.key,
      position: one.position,
      position_ms: one.positionMs,
      max_slots: one.maxSlots,
      max_duration_ms: one.maxDurationMs,
    })),
  };
  return requestClass;
}

/** No listener key, no price. */
export function traceOf(
  request: PlayRequest,
  plan: CurrentPlan | undefined,
  decision: Decision,
  answer: StoredAnswer,
): StoredTrace {
  const { context } = request;
  return {
    index_version: plan?.digest ?? null,
    request_class: requestClassOf(context, request.listener !== undefined),
    stages: decision.stages.map((stage) => ({
      break_key: stage.breakKey,
      name: stage.name,
      in: stage.in,
      out: stage.out,
      dropped_by: stage.droppedBy,
    })),
    candidates: decision.candidates.map((one) => ({
      break_key: one.breakKey,
      line_item_id: one.lineItemId,
      verdict: one.verdict,
      codes: one.codes,
      tier: one.tier,
      rank: one.rank ?? null,
    })),
    policy_versions: decision.policies,
    seed: seedOf(context.decisionId),
    input_digest: request.digest,
    output_digest: outputDigestOf(answer),
  };
}

const renderTrack = (track: AdTrack): HlsTrack => ({
  codec: track.codec,
  digest: track.digest,
  sizeBytes: BigInt(track.size_bytes),
  durationMs: BigInt(track.duration_ms),
  indexDigest: track.index_digest,
  indexSizeBytes: BigInt(track.index_size_bytes),
});

/** The stored answer on the wire. */
export function renderAnswer(answer: StoredAnswer): DecideResponse {
  return {
    decisionId: answer.decision_id,
    servingPlanId: answer.serving_plan_id,
    picks: answer.picks.map((pick) => ({
      breakKey: pick.break_key,
      slot: pick.slot,
      servingId: pick.serving_id,
      campaignId: pick.campaign_id,
      lineItemId: pick.line_item_id,
      creativeId: pick.creative_id,
      segmentDigest: pick.segment_digest,
      sizeBytes: BigInt(pick.size_bytes),
      durationMs: BigInt(pick.duration_ms),
      clickUrl: pick.click_url,
      billable: pick.billable,
      hls: pick.hls && renderTrack(pick.hls),
      pictures: (pick.pictures ?? []).map((picture) => ({
        name: picture.name,
        track: renderTrack(picture),
        width: picture.width,
        height: picture.height,
        frameRateFrames: picture.frame_rate.frames,
        frameRateSeconds: picture.frame_rate.seconds,
      })),
    })),
    noAdReason: answer.no_ad_reason,
  };
}
