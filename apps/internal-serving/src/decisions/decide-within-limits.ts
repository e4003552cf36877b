import { decidePrepared, preparePlay, recordInputs, type Decision, type RecordedInputs } from '@longwave/ad-decision';
import { Problem } from '@longwave/problems';
import {
  noCounting,
  type CountedSlot,
  type GoalCounting,
  type SlotRequest,
  type Spending,
} from '../goals/goal-counting.ts';
import type { GoalCredit } from '../goals/goal-credit.ts';
import { countServings } from '../listeners/listener-record.ts';
import type { ListenerMemory, ListenerRecord } from '../listeners/listener-memory.ts';
import type { CurrentPlan } from '../plans/current-plans.ts';
import type { ShareCounts } from '../shares/share-counts.ts';
import type { ActiveSuspensions } from '../suspensions/current-suspensions.ts';
import type { PlayRequest } from './play-request.ts';

/** A decision whose slots are counted: in goals, and in the listener's record. */
export interface CountedDecision {
  readonly decision: Decision;
  readonly countedSlots: readonly CountedSlot[];
  /** What leases pay for; the caller settles it. */
  readonly spending?: Spending | undefined;
  /** Its inputs; undefined without a plan. */
  readonly inputs: RecordedInputs | undefined;
}

export interface Limits {
  readonly goals: GoalCounting;
  /** Absent: every line item is asked for what its goal leaves, and none is urgent. */
  readonly credit?: GoalCredit | undefined;
  readonly listeners: ListenerMemory;
  readonly shares: Pick<ShareCounts, 'shareOf'>;
}

/** Rounds after which line items with goals or caps are left out, when a goal was reached or another play counted in each of them. */
const maxRounds = 5;

export const capKeysOf = (decision: Decision) => decision.picks.flatMap((pick) => pick.capKeys);

function slotRequests(plan: CurrentPlan, decision: Decision): readonly SlotRequest[] {
  const requests = new Map<string, SlotRequest>();
  for (const { ordinal, lineItemId } of decision.picks) {
    const { goalQuantity } = plan.index.lines[ordinal]!;
    if (goalQuantity === undefined) continue;
    const slots = (requests.get(lineItemId)?.slots ?? 0) + 1;
    requests.set(lineItemId, { lineItemId, slots, goalQuantity });
  }
  return [...requests.values()];
}

/**
 * Decides until all slots of the decision could be counted: first in the listener's record, exchanged as a whole, then in the goals,
 * all or nothing. Each round replaces what the one before counted in the record.
 * @param refused line items with goals that were refused when the play was decided before: they have no room
 */
export async function decideWithinLimits(
  { goals, credit, listeners, shares }: Limits,
  { workspaceId, context, listener }: PlayRequest,
  plan: CurrentPlan,
  suspended: ActiveSuspensions,
  refused: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<CountedDecision> {
  const { index } = plan;
  const { decisionId, atMs } = context;
  const reading = listener && index.asksListener ? listeners.read(workspaceId, listener) : undefined;
  const prepared = preparePlay(index, context, suspended.lines);
  let record: ListenerRecord | undefined = await reading;
  const maxSlots = new Map<string, number>([...refused].map((lineItemId) => [lineItemId, 0]));
  const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;

  for (let round = 1; ; round++) {
    if (signal.aborted) throw new Problem('timeout', 'The caller closed the connection.');
    const last = round === maxRounds;
    const withCredit = credit?.creditOf(index);
    const remaining = credit ? credit.remainingOf(index) : (ordinal: number) => goals.remaining(idOf(ordinal));
    const { inputs, recorded } = recordInputs(
      index,
      {
        remaining:
          last || goals === noCounting
            ? undefined
            : maxSlots.size === 0
              ? remaining
              : (ordinal) => Math.min(remaining(ordinal), maxSlots.get(idOf(ordinal)) ?? Infinity),
        credit: withCredit,
        urgency: credit?.urgencyOf(index),
        share: (ordinal) => shares.shareOf(idOf(ordinal)),
        frequencyRecord: last || !record ? undefined : countServings(record.entries, decisionId),
      },
      atMs,
    );
    const decision = decidePrepared(prepared, inputs);
    if (record && listener) {
      const written = await listeners.write(record, decisionId, capKeysOf(decision), atMs);
      // The last round fills no slot that depends on the record.
      if (!last) {
        record = written === 'changed' ? await listeners.read(workspaceId, listener) : written;
        if (written === 'changed' || written === undefined) continue;
      }
    }
    const requests = slotRequests(plan, decision);
    if (requests.length === 0) return { decision, countedSlots: [], inputs: recorded() };
    const reservation = goals.reserve(requests);
    if (reservation.kind === 'counted') {
      const { slots: countedSlots, spending } = reservation;
      return { decision, countedSlots, spending, inputs: recorded() };
    }
    if (reservation.kind === 'refused') for (const [id, max] of reservation.maxSlots) maxSlots.set(id, max);
  }
}
