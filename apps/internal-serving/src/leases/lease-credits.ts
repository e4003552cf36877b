import type { GoalCounting, SlotRequest, SpendingOutcome } from '../goals/goal-counting.ts';

/** A quota lease of this node, as its row says. */
export interface QuotaLease {
  readonly lineItemId: string;
  readonly granted: number;
  readonly used: number;
  /** Refill of the bucket, and its size. */
  readonly ratePerS: number;
  readonly burst: number;
  /** A closed one has nothing left. */
  readonly closed: boolean;
}

/** A read of the rows of leases. What is spent after it began counts on top of the rows. */
interface LeaseRead {
  /** Line items whose rows it must contain, changed or not. */
  readonly lineItemIds: readonly string[];
  /** Rows that are missing of those line items are leases that do not exist any more. */
  apply(rows: readonly QuotaLease[]): void;
}

export interface LeaseCredits extends GoalCounting {
  /** Forgets all leases: those of this epoch are to be read anew. Undefined: there are none. */
  begin(nodeEpoch: number | undefined): void;
  startRead(): LeaseRead;
  /** Units that a line item may be given now. */
  creditOf(lineItemId: string): number;
  /** Whether there is a lease. */
  isGranted(): boolean;
}

export interface LeaseCreditsOptions {
  /** A clock that never steps. */
  readonly monotonicMs: () => number;
  /** Called for units of the present epoch that were stored. */
  readonly onUsed: (lineItemId: string, slots: number) => void;
  /** Called when a decision took the last unit that could be given. */
  readonly onExhausted: (lineItemId: string) => void;
}

interface Lease {
  granted: number;
  /** As of the last read. */
  used: number;
  /** Stored since that read began. */
  stored: number;
  /** Spent by decisions on their way, and by those without an answer since that read began. */
  spent: number;
  unknown: number;
  ratePerS: number;
  burst: number;
  /** What the bucket holds, as of a time of the monotonic clock. */
  level: number;
  levelAtMs: number;
  /** The rows refused what this node believed to have: it gives nothing until they are read. */
  isDoubtful: boolean;
}

const newLease = (row: QuotaLease, nowMs: number): Lease => ({
  ...{ granted: row.granted, used: row.used, ratePerS: row.ratePerS, burst: row.burst, level: row.burst },
  ...{ levelAtMs: nowMs, stored: 0, spent: 0, unknown: 0, isDoubtful: false },
});

function refill(lease: Lease, nowMs: number): void {
  lease.level = Math.min(lease.burst, lease.level + (lease.ratePerS * (nowMs - lease.levelAtMs)) / 1_000);
  lease.levelAtMs = nowMs;
}

/** The bucket keeps the share to which it is full. */
function revise(lease: Lease, row: QuotaLease): void {
  lease.level = lease.burst > 0 ? (lease.level * row.burst) / lease.burst : row.burst;
  lease.granted = row.granted;
  lease.used = row.used;
  lease.ratePerS = row.ratePerS;
  lease.burst = row.burst;
  lease.isDoubtful = false;
}

/** Rounding of the bucket's level must not take a whole unit. */
const tolerance = 1e-6;

/**
 * The credit of this node's leases, in memory: of each `min(granted − used, bucket)`. It decides the pace; the bound is the rows' own
 * (`quota_lease_used_within_granted`), whatever is believed here.
 */
export function createLeaseCredits({ monotonicMs, onUsed, onExhausted }: LeaseCreditsOptions): LeaseCredits {
  let epoch: number | undefined;
  let leases = new Map<string, Lease>();
  /** Leases whose rows say something else than the last read did. */
  let touched = new Set<string>();

  function creditOf(lineItemId: string): number {
    const lease = leases.get(lineItemId);
    if (!lease || lease.isDoubtful) return 0;
    refill(lease, monotonicMs());
    const left = lease.granted - lease.used - lease.stored - lease.spent - lease.unknown;
    return Math.max(0, Math.floor(Math.min(left, lease.level + tolerance)));
  }

  function settle(of: number, lineItemId: string, lease: Lease, slots: number, outcome: SpendingOutcome): void {
    lease.spent -= slots;
    if (outcome === 'stored') lease.stored += slots;
    else if (outcome === 'unknown') lease.unknown += slots;
    else lease.level = Math.min(lease.burst, lease.level + slots);
    if (outcome === 'refused') lease.isDoubtful = true;
    if (of !== epoch) return;
    if (outcome === 'stored') onUsed(lineItemId, slots);
    touched.add(lineItemId);
  }

  function spend(nodeEpoch: number, requests: readonly SlotRequest[]) {
    const spent = requests.map(({ lineItemId, slots }) => {
      const lease = leases.get(lineItemId)!;
      lease.spent += slots;
      lease.level -= slots;
      if (creditOf(lineItemId) === 0) onExhausted(lineItemId);
      return { lineItemId, lease, slots };
    });
    return {
      nodeEpoch,
      settle: (outcome: SpendingOutcome) => {
        for (const { lineItemId, lease, slots } of spent) settle(nodeEpoch, lineItemId, lease, slots, outcome);
      },
    };
  }

  return {
    creditOf,

    remaining: creditOf,

    async reserve(_decisionId, attempt, requests) {
      const maxSlots = new Map<string, number>();
      for (const { lineItemId, slots } of requests) {
        const credit = creditOf(lineItemId);
        if (credit < slots) maxSlots.set(lineItemId, credit);
      }
      if (epoch === undefined) return { kind: 'unavailable' };
      if (maxSlots.size > 0) return { kind: 'refused', maxSlots };
      const slots = requests.flatMap((each) =>
        Array.from({ length: each.slots }, () => ({ lineItemId: each.lineItemId, attempt })),
      );
      return { kind: 'counted', slots, spending: spend(epoch, requests) };
    },

    release: async () => undefined,

    begin(nodeEpoch) {
      epoch = nodeEpoch;
      leases = new Map();
      touched = new Set();
    },

    startRead() {
      const readEpoch = epoch;
      const counted = new Map(
        [...touched].map((id) => {
          const lease = leases.get(id);
          return [id, { stored: lease?.stored ?? 0, unknown: lease?.unknown ?? 0 }];
        }),
      );
      return {
        lineItemIds: [...counted.keys()],
        apply(rows) {
          if (readEpoch !== epoch) return;
          const nowMs = monotonicMs();
          const missing = new Set(counted.keys());
          for (const row of rows) {
            missing.delete(row.lineItemId);
            const lease = leases.get(row.lineItemId);
            if (row.closed) leases.delete(row.lineItemId);
            else if (!lease) leases.set(row.lineItemId, newLease(row, nowMs));
            else {
              refill(lease, nowMs);
              revise(lease, row);
              const { stored, unknown } = counted.get(row.lineItemId) ?? { stored: 0, unknown: 0 };
              lease.stored -= stored;
              lease.unknown -= unknown;
            }
          }
          for (const lineItemId of missing) leases.delete(lineItemId);
          for (const lineItemId of counted.keys()) {
            const lease = leases.get(lineItemId);
            if (!lease || lease.stored + lease.unknown + lease.spent === 0) touched.delete(lineItemId);
          }
        },
      };
    },

    isGranted: () => leases.size > 0,
  };
}
