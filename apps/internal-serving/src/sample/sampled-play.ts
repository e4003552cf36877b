import { hash } from 'node:crypto';
import type { AdBreak } from '@longwave/ad-decision';
import type { StoredDecision } from '../decisions/stored-decision.ts';
import { listenerFields, valueKey, type DayCounts, type ListenerField } from './value-counts.ts';

/** The value in place of one that few people have. */
const other = 'other';
/** Sampled plays of a podcast a day, at least 1 of 16. */
const maxPlaysOfPodcast = 2_000;
const minShare = 1 / 16;
const stepMs = 5 * 60_000;

/** A play as the sample keeps it. */
export interface SampledPlay extends Readonly<Record<ListenerField, string>> {
  readonly atMs: number;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly surface: string;
  readonly language: string;
  readonly explicit: boolean;
  readonly contentCategories: readonly string[];
  readonly publishedAtMs: number;
  /** 0 for no limit. */
  readonly adLoadLimitMs: number;
  readonly streamFormat: string;
  readonly streamFormats: readonly string[];
  readonly breaks: readonly AdBreak[];
  readonly lineItemIds: readonly string[];
  readonly noAdReason: string;
  /** Empty when there is none. */
  readonly listener: Buffer;
  /** Plays that it stands for. */
  readonly weight: number;
}

/** A play before it is known how many of its podcast are kept; `place` in [0, 1) is the same for all plays of a listener. */
export interface CandidatePlay extends Omit<SampledPlay, 'weight'> {
  readonly place: number;
}

const placeOf = (bytes: Buffer) => bytes.readUInt32BE(0) / 2 ** 32;

/**
 * What the sample may keep of a decision: nothing that names it or its listener. Undefined for one that is older than replay, which has
 * no inputs.
 * @param code of its listener; a play without one is kept or left by a hash of its own
 */
export function candidateOf(
  decisionId: string,
  decision: StoredDecision,
  code: Buffer | undefined,
): CandidatePlay | undefined {
  const context = decision.inputs?.context;
  if (!context) return undefined;
  return {
    atMs: Math.floor(decision.atMs / stepMs) * stepMs,
    podcastId: context.podcastId,
    episodeId: context.episodeId,
    country: context.country,
    region: context.region,
    device: context.device,
    operatingSystem: context.operatingSystem,
    app: context.app,
    surface: context.surface,
    language: context.language,
    explicit: context.explicit,
    contentCategories: context.contentCategories,
    publishedAtMs: context.publishedAtMs,
    adLoadLimitMs: context.adLoadLimitMs ?? 0,
    streamFormat: context.streamFormat,
    streamFormats: context.streamFormats ?? [],
    breaks: context.breaks,
    lineItemIds: decision.answer.picks.map((pick) => pick.line_item_id),
    noAdReason: decision.answer.no_ad_reason,
    listener: code ?? Buffer.alloc(0),
    place: placeOf(code ?? hash('sha256', decisionId, 'buffer')),
  };
}

/** The share of a podcast's plays that is kept. @param plays of the podcast in a day */
export const shareOf = (plays: number): number =>
  Math.min(1, Math.max(minShare, maxPlaysOfPodcast / Math.max(1, plays)));

/** The plays of an hour that are kept, with rare values hidden. @param day the 24 hours that end with it */
export function keepPlays(plays: readonly CandidatePlay[], day: DayCounts): SampledPlay[] {
  const shown = (field: ListenerField, value: string) =>
    value === '' || day.common.has(valueKey(field, value)) ? value : other;
  return plays.flatMap(({ place, ...play }) => {
    const share = shareOf(day.podcasts[play.podcastId] ?? 0);
    if (place >= share) return [];
    const hidden = Object.fromEntries(listenerFields.map((field) => [field, shown(field, play[field])]));
    return [{ ...play, ...(hidden as Record<ListenerField, string>), weight: 1 / share }];
  });
}
