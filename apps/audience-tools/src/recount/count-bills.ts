import { createPartitions, visitPartitions } from '../files/partitions.ts';
import { addAds, type CountRange, type Tally } from './tally.ts';

/** Billable deliveries, collected until all are known. */
export interface Bills {
  /** @param lineItem by `lineItemKey`; undefined when only the time of a delivery is known */
  readonly add: (servingId: string, startedAtMs: number, lineItem: string | undefined) => void;
  /** Bills each serving once, when the earliest of its deliveries began in the range. */
  readonly count: (range: CountRange, tally: Tally) => Promise<void>;
}

const maxLines = 200_000;

/** Makes an empty set of bills. Deliveries wait in temporary files, because a serving may be delivered to many listeners. */
export function createBills(folder: string): Bills {
  const deliveries = createPartitions(folder);
  return {
    add: (servingId, startedAtMs, lineItem = '') => deliveries.add(servingId, `${startedAtMs} ${lineItem}`),
    count: async ({ fromMs = -Infinity, toMs = Infinity }, tally) => {
      for await (const part of visitPartitions(deliveries, folder, maxLines)) {
        const earliest = new Map<string, { startedAtMs: number; lineItem: string }>();
        for await (const group of part.read())
          for (const [servingId, line] of group) {
            const blank = line.indexOf(' ');
            const [startedAtMs, lineItem] = [Number(line.slice(0, blank)), line.slice(blank + 1)];
            const known = earliest.get(servingId);
            if (known === undefined) earliest.set(servingId, { startedAtMs, lineItem });
            else {
              known.startedAtMs = Math.min(known.startedAtMs, startedAtMs);
              known.lineItem ||= lineItem;
            }
          }
        for (const { startedAtMs, lineItem } of earliest.values())
          if (startedAtMs >= fromMs && startedAtMs < toMs && lineItem !== '')
            addAds(tally, lineItem, { delivered: 0, billable: 1 });
      }
      deliveries.remove();
    },
  };
}
