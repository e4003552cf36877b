import { addBit, createBits } from './bitset.ts';
import type { DecisionInputs, Share } from './decision-context.ts';
import type { PlanIndex } from './plan-index.ts';
import type { SuspendedLines } from './suspensions.ts';
import { createUrgency, setUrgency, urgencyOf, type UrgencyLevel } from './urgency.ts';

/**
 * The inputs of a decision as they are stored, as JSON: only what differs from "never served, no goal reached". The names of the
 * fields are those of the stored rows. Both formats are read for ever (docs/adr/0087-urgency-and-credit-are-recorded.md).
 */
export interface RecordedInputs {
  /** Absent: format 1, of decisions whose `credit` was not known. */
  readonly format?: 2;
  /**
   * `remaining`: per line item the slots that its goal left. Format 1: those that had a limit, a line item that is absent had none;
   * null when no goal could be counted. Format 2: those that were looked at, 63 at most; one that is absent had no credit.
   */
  readonly room: Readonly<Record<string, number>> | null;
  /** `urgency`: per line item that was looked at its level where it is not 0; absent where all were 0. */
  readonly urgency?: Readonly<Record<string, UrgencyLevel>>;
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

/** More than a decision can take: one slot of each break, and a play has 32 breaks at most. Packed it is one byte. */
const maxRecordedRoom = 63;

const servingsKey = (capKey: string, backMs: number) => `${capKey} ${backMs}`;

/** The same inputs, which record their answers. */
export function recordInputs(index: PlanIndex, inputs: DecisionInputs, atMs: number): Recording {
  const room = new Map<number, number>();
  const urgencies: Record<string, UrgencyLevel> = {};
  const shares: Record<string, readonly [number, number]> = {};
  const heard: Record<string, number> = {};
  const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;
  const { remaining, credit, urgency, share: shareOf, frequencyRecord } = inputs;

  /** Every line item that is looked at and has a goal is asked for: urgency concerns no others. */
  function remainingOf(ordinal: number): number {
    // The first answer holds for the decision: credit may grow by the clock between two of its breaks.
    const known = credit && room.get(ordinal);
    if (known !== undefined) return known;
    const left = remaining!(ordinal);
    const answer = credit ? Math.min(left, maxRecordedRoom) : left;
    if (answer !== Infinity) room.set(ordinal, answer);
    const level = urgencyOf(urgency, ordinal);
    if (level > 0) urgencies[idOf(ordinal)] = level;
    return answer;
  }

  /** Without a prototype: with one, V8 would make a hidden class for each order in which line items were looked at. */
  function recordedRoom(): Record<string, number> {
    const byId = Object.create(null) as Record<string, number>;
    for (const [ordinal, left] of room) byId[idOf(ordinal)] = left;
    return byId;
  }

  return {
    inputs: {
      ...inputs,
      remaining: remaining && remainingOf,
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
    },
    recorded: () => ({
      ...(credit && { format: 2 }),
      // Without `remaining` none has credit: format 2 says it of each that is absent.
      room: remaining || credit ? recordedRoom() : null,
      ...(Object.keys(urgencies).length > 0 && { urgency: urgencies }),
      shares,
      heard: frequencyRecord ? heard : null,
    }),
  };
}

const noShare: Share = { served: 0, opportunities: 0 };

/** The inputs about goals of an earlier decision. */
function replayGoals(
  { lines }: PlanIndex,
  { format, room, urgency }: RecordedInputs,
): Pick<DecisionInputs, 'remaining' | 'credit' | 'urgency'> {
  const idOf = (ordinal: number) => lines[ordinal]!.lineItemId;
  const absent = format === 2 ? 0 : Infinity;
  const credit = createBits(lines.length);
  const levels = createUrgency(lines.length);
  if (format === 2 || urgency)
    lines.forEach(({ lineItemId }, ordinal) => {
      if (room?.[lineItemId] !== undefined) addBit(credit, ordinal);
      setUrgency(levels, ordinal, urgency?.[lineItemId] ?? 0);
    });
  return {
    remaining: room ? (ordinal) => room[idOf(ordinal)] ?? absent : undefined,
    ...(format === 2 && { credit }),
    ...(urgency && { urgency: levels }),
  };
}

/** The inputs of an earlier decision. Throws `RangeError` for a format that is not known. */
export function replayInputs(
  index: PlanIndex,
  recorded: RecordedInputs,
  suspended: SuspendedLines | undefined,
  atMs: number,
): DecisionInputs {
  const { format, shares, heard } = recorded;
  if (format !== undefined && format !== 2) throw new RangeError(`Inputs have the unknown format ${String(format)}`);
  const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;
  return {
    ...replayGoals(index, recorded),
    share: (ordinal) => {
      const share = shares[idOf(ordinal)];
      return share ? { served: share[0], opportunities: share[1] } : noShare;
    },
    frequencyRecord: heard ? (capKey, sinceMs) => heard[servingsKey(capKey, atMs - sinceMs)] ?? 0 : undefined,
    suspended,
  };
}
