import type { PlanLineItem } from '@longwave/events';
import type { Bits } from './bitset.ts';
import type { BreakPosition } from './index-floors.ts';
import type { SuspendedLines } from './suspensions.ts';
import type { Urgency } from './urgency.ts';

/** The restrictions of one slot of a break. */
interface SlotRule {
  /** 0-based within the break. */
  readonly slot: number;
  /** 0 for no limit of its own. */
  readonly maxDurationMs: number;
  /** Empty for any. */
  readonly lineItemTypes: readonly PlanLineItem['type'][];
  /** Empty for any. */
  readonly productions: readonly PlanLineItem['creatives'][number]['production'][];
}

/** One place for ads in a play. */
export interface AdBreak {
  /** Unique in the play. */
  readonly key: string;
  readonly position: BreakPosition;
  readonly maxSlots: number;
  readonly maxDurationMs: number;
  /** Its position in the content. */
  readonly positionMs: number;
  readonly slotRules: readonly SlotRule[];
}

/** Everything of a play that a decision reads. */
export interface DecisionContext {
  /** Names the play and seeds every choice between equals. */
  readonly decisionId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  /** ISO 3166-1 alpha-2, or "" when unknown. */
  readonly country: string;
  /** ISO 3166-2, or "" when unknown. */
  readonly region: string;
  readonly surface: string;
  /** Device class, operating system and app of the user-agent lists, "" when unknown. */
  readonly device: string;
  readonly operatingSystem: string;
  readonly app: string;
  /** Primary language subtag, "" when unknown. */
  readonly language: string;
  readonly explicit: boolean;
  readonly contentCategories: readonly string[];
  readonly publishedAtMs: number;
  /** Loudness of the content in LUFS; undefined when unknown. */
  readonly loudnessLufs: number | undefined;
  /** All ads of the play together; undefined for no limit. */
  readonly adLoadLimitMs: number | undefined;
  /** Of the file that the ads are joined to, for example "mp3/128000/48000/2". */
  readonly streamFormat: string;
  /** Formats in which the show's surfaces play ads: an ad must have all of them. Absent: `streamFormat` alone. */
  readonly streamFormats?: readonly string[] | undefined;
  /** The play's time; windows are tested against it. */
  readonly atMs: number;
  readonly breaks: readonly AdBreak[];
}

/** In how many breaks of the last window a sponsorship served, and in how many it could have. */
export interface Share {
  readonly served: number;
  readonly opportunities: number;
}

/**
 * Inputs of a decision besides plan and context; every answer must stay the same during one decision. All of it is recorded with
 * the decision (`recordInputs`), so that a replay has the same inputs.
 */
export interface DecisionInputs {
  /** Slots that a line item with a goal may take in this decision; absent when no goal can be counted now. */
  readonly remaining?: ((ordinal: number) => number) | undefined;
  /**
   * Line items with a goal that have slots left, so that the others need not be looked at: all of them together have the verdict
   * `no_lease`. `remaining` still bounds those of the set. Absent: `remaining` says it of each.
   */
  readonly credit?: Bits | undefined;
  /** Which line items with a goal are behind their plans; absent: none is. */
  readonly urgency?: Urgency | undefined;
  readonly share: (ordinal: number) => Share;
  /**
   * How many servings to the listener a cap counts (`capKey`) since a time, without those of this decision; absent when there is no
   * listener or its record cannot be read.
   */
  readonly frequencyRecord?: ((capKey: string, sinceMs: number) => number) | undefined;
  readonly suspended?: SuspendedLines | undefined;
}

/** Inputs of a plan whose goals, shares and listeners are all new. */
export const freshInputs: DecisionInputs = {
  remaining: () => Infinity,
  share: () => ({ served: 0, opportunities: 0 }),
  frequencyRecord: () => 0,
};
