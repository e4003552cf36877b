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

/** A lease in memory; its fields are of this file alone. */
export interface HeldLease {
  granted: number;
  /** Stored under it, as far as this node knows: nobody else uses it. */
  used: number;
  /** Spent by decisions on their way, and by those without an answer. */
  spent: number;
  unknown: number;
  ratePerS: number;
  burst: number;
  /** What the bucket holds, as of a time of the monotonic clock. */
  level: number;
  levelAtMs: number;
  /** The rows refused what this node believed to have: it gives nothing until they are read. */
  isDoubtful: boolean;
  /** The read that was begun last when one of these changed, and what `used` and `unknown` were when it began. */
  changedIn: number;
  usedBefore: number;
  unknownBefore: number;
}

export interface LeaseCredits extends GoalCounting {
  /** Forgets all leases: those of this epoch are to be read anew. Undefined: there are none. */
  begin(nodeEpoch: number | undefined): void;
  startRead(): LeaseRead;
  /** The lease of a line item, as of this revision. */
  find(lineItemId: string): HeldLease | undefined;
  /** Units that a lease may give at a time of the monotonic clock. */
  creditIn(lease: HeldLease, nowMs: number): number;
  /** Grows whenever leases were opened, revised or removed. */
  revision(): number;
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

const newLease = (row: QuotaLease, nowMs: number): HeldLease => ({
  ...{ granted: row.granted, used: row.used, spent: 0, unknown: 0, ratePerS: row.ratePerS, burst: row.burst },
  ...{ level: row.burst, levelAtMs: nowMs, isDoubtful: false },
  ...{ changedIn: 0, usedBefore: 0, unknownBefore: 0 },
});

function refill(lease: HeldLease, nowMs: number): void {
  lease.level = Math.min(lease.burst, lease.level + (lease.ratePerS * (nowMs - lease.levelAtMs)) / 1_000);
  lease.levelAtMs = nowMs;
}

/** The bucket keeps the share to which it is full. */
function revise(lease: HeldLease, row: QuotaLease): void {
  lease.level = lease.burst > 0 ? (lease.level * row.burst) / lease.burst : row.burst;
  lease.granted = row.granted;
  lease.ratePerS = row.ratePerS;
  lease.burst = row.burst;
}

/** Rounding of the bucket's level must not take a whole unit. */
const tolerance = 1e-6;

/**
 * The credit of this node's leases, in memory: of each `min(granted − used, bucket)`. It decides the pace; the bound is the rows' own
 * (`quota_lease_used_within_granted`), whatever is believed here.
 */
export function createLeaseCredits({ monotonicMs, onUsed, onExhausted }: LeaseCreditsOptions): LeaseCredits {
  let epoch: number | undefined;
  let leases = new Map<string, HeldLease>();
  /** Leases of which the rows know more than this node: units without an answer, and what the rows refused. */
  let uncertain = new Set<string>();
  let revision = 0;
  /** The number of the read that was begun last. */
  let readCount = 0;

  function creditIn(lease: HeldLease, nowMs: number): number {
    if (lease.isDoubtful) return 0;
    const left = lease.granted - lease.used - lease.spent - lease.unknown;
    // A bucket that holds all that is left holds it later too.
    if (left > lease.level) refill(lease, nowMs);
    return Math.max(0, Math.floor(Math.min(left, lease.level + tolerance)));
  }

  function creditOf(lineItemId: string): number {
    const lease = leases.get(lineItemId);
    return lease ? creditIn(lease, monotonicMs()) : 0;
  }

  /** To be called before `used`, `unknown` or `spent` change. */
  function beginChange(lease: HeldLease): void {
    if (lease.changedIn === readCount) return;
    lease.changedIn = readCount;
    lease.usedBefore = lease.used;
    lease.unknownBefore = lease.unknown;
  }

  function settle(of: number, lineItemId: string, lease: HeldLease, slots: number, outcome: SpendingOutcome): void {
    beginChange(lease);
    lease.spent -= slots;
    if (outcome === 'stored') lease.used += slots;
    else if (outcome === 'unknown') lease.unknown += slots;
    else lease.level = Math.min(lease.burst, lease.level + slots);
    if (outcome === 'refused') lease.isDoubtful = true;
    if (of !== epoch) return;
    if (outcome === 'stored') onUsed(lineItemId, slots);
    else if (outcome !== 'not_stored') uncertain.add(lineItemId);
  }

  function spend(nodeEpoch: number, requests: readonly SlotRequest[]) {
    const nowMs = monotonicMs();
    const spent = requests.map(({ lineItemId, slots }) => {
      const lease = leases.get(lineItemId)!;
      beginChange(lease);
      refill(lease, nowMs);
      lease.spent += slots;
      lease.level -= slots;
      if (creditIn(lease, nowMs) === 0) onExhausted(lineItemId);
      return { lineItemId, lease, slots };
    });
    return {
      nodeEpoch,
      settle: (outcome: SpendingOutcome) => {
        for (const { lineItemId, lease, slots } of spent) settle(nodeEpoch, lineItemId, lease, slots, outcome);
      },
    };
  }

  /** Takes over what a row says that was read in the read of this number. */
  function applyRow(row: QuotaLease, read: number, nowMs: number): void {
    const lease = leases.get(row.lineItemId);
    if (row.closed) {
      leases.delete(row.lineItemId);
      return;
    }
    if (!lease) {
      leases.set(row.lineItemId, newLease(row, nowMs));
      return;
    }
    refill(lease, nowMs);
    revise(lease, row);
    const hasChanged = lease.changedIn === read;
    const usedBefore = hasChanged ? lease.usedBefore : lease.used;
    // A row that has less than this node stored began anew meanwhile.
    if (!uncertain.has(row.lineItemId) && row.used >= usedBefore) return;
    lease.used = row.used + lease.used - usedBefore;
    lease.unknown -= hasChanged ? lease.unknownBefore : lease.unknown;
    lease.isDoubtful = false;
    // The row may have units of decisions on their way, which count twice until it is read without any.
    if (lease.spent + lease.unknown === 0 && !hasChanged) uncertain.delete(row.lineItemId);
    else uncertain.add(row.lineItemId);
  }

  return {
    creditIn,
    find: (lineItemId) => leases.get(lineItemId),
    revision: () => revision,

    remaining: creditOf,

    reserve(requests) {
      const maxSlots = new Map<string, number>();
      for (const { lineItemId, slots } of requests) {
        const credit = creditOf(lineItemId);
        if (credit < slots) maxSlots.set(lineItemId, credit);
      }
      if (epoch === undefined) return { kind: 'unavailable' };
      if (maxSlots.size > 0) return { kind: 'refused', maxSlots };
      const slots = requests.flatMap((each) =>
        Array.from({ length: each.slots }, () => ({ lineItemId: each.lineItemId, attempt: 'lease' })),
      );
      return { kind: 'counted', slots, spending: spend(epoch, requests) };
    },

    begin(nodeEpoch) {
      epoch = nodeEpoch;
      leases = new Map();
      uncertain = new Set();
      revision++;
    },

    startRead() {
      const readEpoch = epoch;
      const read = ++readCount;
      const lineItemIds = [...uncertain];
      return {
        lineItemIds,
        apply(rows) {
          // Another read has begun: what changed since this one is not known any more.
          if (readEpoch !== epoch || read !== readCount) return;
          const nowMs = monotonicMs();
          const found = new Set<string>();
          for (const row of rows) {
            found.add(row.lineItemId);
            applyRow(row, read, nowMs);
          }
          for (const lineItemId of lineItemIds) {
            if (!found.has(lineItemId)) leases.delete(lineItemId);
            if (!leases.has(lineItemId)) uncertain.delete(lineItemId);
          }
          if (rows.length > 0 || lineItemIds.length > 0) revision++;
        },
      };
    },

    isGranted: () => leases.size > 0,
  };
}
