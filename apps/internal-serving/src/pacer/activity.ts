import type { LiveNode } from './lease-grant-table.ts';
import type { PacedEntry } from './pace-lines.ts';

/** A line item that was asked for stays active for so long. */
const activeMs = 5_000;
/** Of those without activity so many are looked at in a tick at least, and all of them in so many ticks. */
const leastPortion = 500;
const ticksOfRound = 15;

/** Says which line items a tick has to look at: what happened to all others can wait for their turn. */
export interface Activity {
  /** A line item that is paced from now on. */
  add(lineItemId: string, nowMs: number): void;
  remove(lineItemId: string): void;
  /** It is looked at in the next tick. */
  hurry(lineItemId: string): void;
  /** Takes what nodes report, and tells the shares of the line items that were asked for. */
  report(live: readonly LiveNode[], nowMs: number): void;
  /** Whether it was asked for lately. */
  isActive(lineItemId: string): boolean;
  /**
   * The line items of this tick whose windows have begun: those with activity, those in a hurry, and a part of the others. A campaign with a
   * budget comes whole.
   */
  take(nowMs: number): readonly PacedEntry[];
}

/** @param entries all that are paced; of each `add` is called when it is there */
export function createActivity(entries: ReadonlyMap<string, PacedEntry>): Activity {
  const activeUntil = new Map<string, number>();
  const hurried = new Set<string>();
  const campaigns = new Map<string, Set<string>>();
  let asked = new Map<number, ReadonlyMap<string, number>>();
  let round = entries.values();

  function addPortion(found: Set<PacedEntry>): void {
    let left = Math.min(entries.size, Math.max(leastPortion, Math.ceil(entries.size / ticksOfRound)));
    while (left > 0) {
      const { value, done } = round.next();
      if (done) round = entries.values();
      else {
        found.add(value);
        left--;
      }
    }
  }

  /** What one line item of a campaign commits, the others cannot. */
  function addCampaigns(found: Set<PacedEntry>): void {
    for (const { pacer } of [...found]) {
      if (pacer.line.campaignBudgetMicros === undefined) continue;
      for (const id of campaigns.get(pacer.line.campaignId)!) found.add(entries.get(id)!);
    }
  }

  return {
    add(lineItemId, nowMs) {
      const { line, shares } = entries.get(lineItemId)!.pacer;
      const { campaignId } = line;
      const others = campaigns.get(campaignId);
      if (others) others.add(lineItemId);
      else campaigns.set(campaignId, new Set([lineItemId]));
      hurried.add(lineItemId);
      for (const [nodeEpoch, slots] of asked)
        if (slots.has(lineItemId)) shares.report([{ nodeEpoch, asked: slots.get(lineItemId)! }], nowMs);
    },
    remove(lineItemId) {
      const { campaignId } = entries.get(lineItemId)!.pacer.line;
      const others = campaigns.get(campaignId);
      others?.delete(lineItemId);
      if (others?.size === 0) campaigns.delete(campaignId);
      activeUntil.delete(lineItemId);
    },
    hurry: (lineItemId) => void hurried.add(lineItemId),
    report(live, nowMs) {
      for (const node of live) {
        const { nodeEpoch } = node;
        const before = asked.get(nodeEpoch);
        for (const [lineItemId, slots] of node.asked) {
          if (before?.get(lineItemId) === slots) continue;
          activeUntil.set(lineItemId, nowMs + activeMs);
          entries.get(lineItemId)?.pacer.shares.report([{ nodeEpoch, asked: slots }], nowMs);
        }
      }
      asked = new Map(live.map((node) => [node.nodeEpoch, node.asked]));
      for (const [lineItemId, untilMs] of activeUntil) if (untilMs <= nowMs) activeUntil.delete(lineItemId);
    },
    isActive: (lineItemId) => activeUntil.has(lineItemId),
    take(nowMs) {
      const found = new Set<PacedEntry>();
      for (const ids of [activeUntil.keys(), hurried])
        for (const id of ids) {
          const entry = entries.get(id);
          if (entry) found.add(entry);
        }
      hurried.clear();
      addPortion(found);
      addCampaigns(found);
      return [...found].filter(({ pacer }) => pacer.line.windowStartMs <= nowMs);
    },
  };
}
