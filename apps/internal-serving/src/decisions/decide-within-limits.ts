import { decidePrepared, preparePlay, recordInputs, type Decision, type RecordedInputs } from '@longwave/ad-decision';
import { Problem } from '@longwave/problems';
import type { CountedSlot, GoalGuard, WantedSlots } from '../goals/goal-guard.ts';
import { countHeard } from '../listeners/listener-record.ts';
import type { ListenerMemory, ListenerRecord } from '../listeners/listener-memory.ts';
import type { CurrentPlan } from '../plans/current-plans.ts';
import type { ShareCounts } from '../shares/share-counts.ts';
import type { InForce } from '../suspensions/current-suspensions.ts';
import type { PlayRequest } from './play-request.ts';

/** A decision whose slots are counted: in goals, and in the listener's record. */
export interface CountedDecision {
  readonly decision: Decision;
  readonly countedSlots: readonly CountedSlot[];
  /** What it was told; undefined when there was no plan to tell it anything about. */
  readonly told: RecordedInputs | undefined;
}

export interface Limits {
  readonly goals: GoalGuard;
  readonly listeners: ListenerMemory;
  readonly shares: Pick<ShareCounts, 'shareOf'>;
}

/** Decisions made anew because a goal was reached or another play was counted meanwhile; then both are left out. */
const roundsMax = 5;

export const capKeysOf = (decision: Decision) => decision.picks.flatMap((pick) => pick.capKeys);

function wantedSlots(plan: CurrentPlan, decision: Decision): readonly WantedSlots[] {
  const wanted = new Map<string, WantedSlots>();
  for (const { ordinal, lineItemId } of decision.picks) {
    const { goalQuantity } = plan.index.lines[ordinal]!;
    if (goalQuantity === undefined) continue;
    const slots = (wanted.get(lineItemId)?.slots ?? 0) + 1;
    wanted.set(lineItemId, { lineItemId, slots, goalQuantity });
  }
  return [...wanted.values()];
}

/**
 * Decides until everything that the decision gives away could be counted: first in the listener's record, exchanged as a whole, then
 * in the goals, all or nothing. What an earlier round counted in the record the next one replaces.
 */
export async function decideWithinLimits(
  { goals, listeners, shares }: Limits,
  { workspaceId, context, listener }: PlayRequest,
  plan: CurrentPlan,
  suspended: InForce,
  attempt: string,
  signal: AbortSignal,
): Promise<CountedDecision> {
  const { index } = plan;
  const { decisionId, atMs } = context;
  const reading = listener && index.asksListener ? listeners.read(workspaceId, listener) : undefined;
  const prepared = preparePlay(index, context, suspended.lines);
  let record: ListenerRecord | undefined = await reading;
  const slotsMax = new Map<string, number>();
  const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;

  for (let round = 1; ; round++) {
    if (signal.aborted) throw new Problem('timeout', 'The caller closed the connection.');
    const last = round === roundsMax;
    const { inputs, recorded } = recordInputs(
      index,
      {
        room: last
          ? undefined
          : (ordinal) => Math.min(goals.room(idOf(ordinal)), slotsMax.get(idOf(ordinal)) ?? Infinity),
        share: (ordinal) => shares.shareOf(idOf(ordinal)),
        heard: last || !record ? undefined : countHeard(record.entries, decisionId),
      },
      atMs,
    );
    const decision = decidePrepared(prepared, inputs);
    if (record && listener) {
      const written = await listeners.write(record, decisionId, capKeysOf(decision), atMs);
      // The last round gives away nothing that depends on the record.
      if (!last) {
        record = written === 'changed' ? await listeners.read(workspaceId, listener) : written;
        if (written === 'changed' || written === undefined) continue;
      }
    }
    const wanted = wantedSlots(plan, decision);
    if (wanted.length === 0) return { decision, countedSlots: [], told: recorded() };
    const reservation = await goals.reserve(decisionId, attempt, wanted);
    if (reservation.kind === 'counted') return { decision, countedSlots: reservation.slots, told: recorded() };
    if (reservation.kind === 'refused') for (const [id, max] of reservation.slotsMax) slotsMax.set(id, max);
  }
}
