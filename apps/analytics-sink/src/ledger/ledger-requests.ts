import { z } from 'zod';
import { range } from '../queries/count-requests.ts';

const id = z.string().min(1).max(64);
const time = z
  .bigint()
  .min(0n)
  .max(BigInt(Date.UTC(2200, 0)))
  .transform((ms) => new Date(Number(ms)));
const lineItemIds = z.array(id).max(1000);

/** What the units of a line item are counted by; `completes` are servings that a player reported to be complete. */
const countingBasis = z.enum(['reserved', 'served_bytes', 'ad_delivered', 'client_event', 'completes']);
export type UnitBasis = z.output<typeof countingBasis>;

export const unitsRequest = z
  .strictObject({
    workspaceId: id,
    lineItemId: id,
    countingBasis,
    untilMs: time,
    knownAtMs: time,
    decidedBoundsMs: z
      .array(time)
      .max(1000)
      .refine((bounds) => bounds.every((bound, nth) => nth === 0 || bounds[nth - 1]! < bound), 'must be in order'),
  })
  .transform(({ untilMs: until, knownAtMs: knownAt, decidedBoundsMs: decidedBounds, ...request }) => ({
    ...request,
    until,
    knownAt,
    decidedBounds,
  }));
export type UnitsRequest = z.output<typeof unitsRequest>;

export const hoursRequest = z
  .strictObject({ workspaceId: id, lineItemIds, countingBasis, range, knownAtMs: time })
  .transform(({ knownAtMs: knownAt, ...request }) => ({ ...request, knownAt }));
export type HoursRequest = z.output<typeof hoursRequest>;

export const servingsRequest = z
  .strictObject({ workspaceId: id, servingIds: z.array(id).max(1000), countingBasis, knownAtMs: time })
  .transform(({ knownAtMs: knownAt, ...request }) => ({ ...request, knownAt }));
export type ServingsRequest = z.output<typeof servingsRequest>;

const adjustment = z
  .strictObject({
    itemId: id,
    lineItemId: id,
    day: z.iso.date(),
    quantity: z
      .bigint()
      .min(-1_000_000_000_000n)
      .max(1_000_000_000_000n)
      .refine((quantity) => quantity !== 0n, 'must not be 0')
      .transform(Number),
    countingBasis,
    reason: z.string().trim().min(1).max(2000),
    reconciliationId: z.literal(''),
    recordedAtMs: z.literal(0n),
  })
  .transform(({ itemId, lineItemId, day, quantity, countingBasis: basis, reason }) => ({
    ...{ item_id: itemId, line_item_id: lineItemId, day, quantity, counting_basis: basis, reason },
  }));
export type NewAdjustment = z.output<typeof adjustment>;

export const postRequest = z.strictObject({
  workspaceId: id,
  reconciliationId: id,
  adjustments: z
    .array(adjustment)
    .max(1000)
    .refine((all) => new Set(all.map((one) => one.item_id)).size === all.length, 'must name each item once'),
});

export const adjustmentsRequest = z
  .strictObject({ workspaceId: id, lineItemIds, knownAtMs: time })
  .transform(({ knownAtMs: knownAt, ...request }) => ({ ...request, knownAt }));
