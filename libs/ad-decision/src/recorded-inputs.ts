import type { DecisionInputs, Share } from './decision-context.ts';
import type { PlanIndex } from './plan-index.ts';
import type { SuspendedLines } from './suspensions.ts';

/** What a decision was told, as JSON: only what differs from "never served, never heard, no goal reached". */
export interface RecordedInputs {
  /** Per line item the slots that its goal left; null when no goal could be counted. */
  readonly room: Readonly<Record<string, number>> | null;
  /** Per line item with a share: served, opportunities. */
  readonly shares: Readonly<Record<string, readonly [served: number, opportunities: number]>>;
  /** Per `capKey` and, after a space, how far back it was counted in ms; null when nobody could tell. No listener key. */
  readonly heard: Readonly<Record<string, number>> | null;
}

export interface Recording {
  readonly inputs: DecisionInputs;
  /** Everything asked so far. */
  readonly recorded: () => RecordedInputs;
}

const heardKey = (capKey: string, backMs: number) => `${capKey} ${backMs}`;

/** Inputs that remember what they answered. */
export function recordInputs(index: PlanIndex, inputs: DecisionInputs, atMs: number): Recording {
  const room: Record<string, number> = {};
  const shares: Record<string, readonly [number, number]> = {};
  const heard: Record<string, number> = {};
  const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;
  const { room: roomOf, share: shareOf, heard: heardOf } = inputs;
  return {
    inputs: {
      room:
        roomOf &&
        ((ordinal) => {
          const left = roomOf(ordinal);
          if (left !== Infinity) room[idOf(ordinal)] = left;
          return left;
        }),
      share: (ordinal) => {
        const share = shareOf(ordinal);
        if (share.opportunities > 0 || share.served > 0) shares[idOf(ordinal)] = [share.served, share.opportunities];
        return share;
      },
      heard:
        heardOf &&
        ((capKey, sinceMs) => {
          const count = heardOf(capKey, sinceMs);
          if (count > 0) heard[heardKey(capKey, atMs - sinceMs)] = count;
          return count;
        }),
      suspended: inputs.suspended,
    },
    recorded: () => ({ room: roomOf ? room : null, shares, heard: heardOf ? heard : null }),
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
    room: room ? (ordinal) => room[idOf(ordinal)] ?? Infinity : undefined,
    share: (ordinal) => {
      const share = shares[idOf(ordinal)];
      return share ? { served: share[0], opportunities: share[1] } : noShare;
    },
    heard: heard ? (capKey, sinceMs) => heard[heardKey(capKey, atMs - sinceMs)] ?? 0 : undefined,
    suspended,
  };
}
