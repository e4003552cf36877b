export interface SlotRequest {
  readonly lineItemId: string;
  readonly slots: number;
  readonly goalQuantity: number;
}

/** A slot that is counted, and by what: `lease`, or in decisions of releases up to 0.7.0 an attempt of theirs. */
export interface CountedSlot {
  readonly lineItemId: string;
  readonly attempt: string;
}

/**
 * What became of the decision that spent units of leases: `stored`; `not_stored`, as its id had a decision or the statement failed;
 * `refused` by the rows of the leases; `unknown` when no answer came.
 */
export type SpendingOutcome = 'stored' | 'not_stored' | 'refused' | 'unknown';

/** Units that a decision took from the leases of this node. */
export interface Spending {
  readonly nodeEpoch: number;
  /** To be called once. */
  settle(outcome: SpendingOutcome): void;
}

export type Reservation =
  | {
      readonly kind: 'counted';
      readonly slots: readonly CountedSlot[];
      readonly spending: Spending;
    }
  /** Nothing was counted; for each line item in question the slots that this decision may have. */
  | { readonly kind: 'refused'; readonly maxSlots: ReadonlyMap<string, number> }
  | { readonly kind: 'unavailable' };

/** Counts the slots that line items with goals take. */
export interface GoalCounting {
  /** Slots that the line item may take now, as far as this node knows. */
  remaining(lineItemId: string): number;
  /** Counts the slots of one decision, all or nothing. */
  reserve(requests: readonly SlotRequest[]): Reservation;
}

/** While nothing may count: no line item with a goal serves. */
export const noCounting: GoalCounting = {
  remaining: () => 0,
  reserve: () => ({ kind: 'unavailable' }),
};
