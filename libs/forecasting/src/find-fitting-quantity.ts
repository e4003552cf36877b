import type { AskQuantity, Availability } from './find-availability.ts';

/** Quantities that are tried at most: somebody may wait. */
const maxTries = 4;
/** One unit takes at most one from others. A step goes a little further: the smallest losses are taken for chance, and not seen. */
const stride = 1.1;

/** What line items with a promised goal would lose. */
const promisedLoss = ({ contending }: Availability): number =>
  contending.reduce((sum, { tier, loses }) => sum + (tier === 'guaranteed' ? loses : 0), 0);

/**
 * The largest quantity that is left and takes nothing from line items with a promised goal. One of a better priority takes slots of those
 * that have no others, though as many may be left elsewhere (docs/adr/0109-a-sale-takes-nothing-from-promised-goals.md).
 * @param ask about other quantities of the same line item
 * @param asked the quantity that is asked for
 * @param found the answer to it
 * @returns `available` where the quantity takes nothing; else a smaller one that takes nothing, or is expected to after the last try
 */
export function findFittingQuantity(ask: AskQuantity, asked: number, found: Availability): number {
  const available = Math.floor(found.available);
  let quantity = asked;
  let loss = promisedLoss(found);
  if (loss === 0) return available;
  for (let tries = 0; tries < maxTries && quantity > 0; tries++) {
    quantity = Math.max(0, Math.min(available, Math.floor(quantity - stride * loss)));
    loss = promisedLoss(ask(quantity));
    if (loss === 0) return quantity;
  }
  return Math.max(0, Math.floor(quantity - stride * loss));
}
