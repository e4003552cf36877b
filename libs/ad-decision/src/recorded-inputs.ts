import type { DecisionInputs, Share } from './decision-context.ts';
import type { PlanIndex } from './plan-index.ts';
import type { SuspendedLines } from './suspensions.ts';

/**
 * The inputs of a decision as they are stored, as JSON: only what differs from "never served, no goal reached". The names of the
 * fields are those of the stored rows.
 */
export interface RecordedInputs {
  /** `remaining`: per line item the slots that its goal left; null when no goal could be counted. */
  readonly room: Readonly<Record<string, number>> | null;
  /** Per line item with a share: served, opportunities. */
  readonly shares: Readonly<Record<string, readonly [served: number, opportunities: number]>>;
  /** `frequencyRecord`: per `capKey` and, after a space, how far back it was counted in ms; null without a record. No listener key. */
  readonly heard: Readonly<Record<string, number>> | null;
}

export interface Recording {
  readonly inputs: DecisionInputs;
  /** All answers so far. */
  readonly recorded: () => RecordedInputs;
}

const servingsKey = (capKey: string, backMs: number) => `${capKey} ${backMs}`;

/** The same inputs, which record their answers. */
export function recordInputs(index: PlanIndex, inputs: DecisionInputs, atMs: number): Recording {
  const room: Record<string, number> = {};
  const shares: Record<string, readonly [number, number]> = {};
  const heard: Record<string, number> = {};
  const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;
  const { remaining, share: shareOf, frequencyRecord } = inputs;
  return {
    inputs: {
      remaining:
        remaining &&
        ((ordinal) => {
          const left = remaining(ordinal);
          if (left !== Infinity) room[idOf(ordinal)] = left;
          return left;
        }),
      share: (ordinal) => {
        const share = shareOf(ordinal);
        if (share.opportunities > 0 || share.served > 0) shares[idOf(ordinal)] = [share.served, share.opportunities];
        return share;
      },
      frequencyRecord:
        frequencyRecord &&
        ((capKey, sinceMs) => {
          const count = frequencyRecord(capKey, sinceMs);
          if (count > 0) heard[servingsKey(capKey, atMs - sinceMs)] = count;
          return count;
        }),
      suspended: inputs.suspended,
    },
    recorded: () => ({ room: remaining ? room : null, shares, heard: frequencyRecord ? heard : null }),
  };
}

const noShare: Share = { served: 0, opportunities: 0 };

/** The inputs of an earlier decision. */
export function replayInputs(
  index: PlanIndex,
  { room, shares, heard }: RecordedInputs,
  suspended: SuspendedLines | undefined,
  atMs: number,
): DecisionInputs {
  const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;
  return {
    remaining: room ? (ordinal) => room[idOf(ordinal)] ?? Infinity : undefined,
    share: (ordinal) => {
      const share = shares[idOf(ordinal)];
      return share ? { served: share[0], opportunities: share[1] } : noShare;
    },
    frequencyRecord: heard ? (capKey, sinceMs) => heard[servingsKey(capKey, atMs - sinceMs)] ?? 0 : undefined,
    suspended,
  };
}
