import type { RateModel } from './charge.ts';

/** Event by which a price counts: what line items count, or completed plays of the ad, which `cpcv` pays for. */
type ChargedBasis = 'reserved' | 'served_bytes' | 'ad_delivered' | 'client_event' | 'completes';

/** A price, from an instant on; the first one of a line item also counts for everything before. */
export interface RateTerms {
  /** RFC 3339. */
  readonly from: string;
  readonly model: RateModel;
  /** Millionths of the currency, whole number as text; "0" without a price. */
  readonly price_micros: string;
  readonly basis: ChargedBasis;
  /** The most units that are charged under all prices with a goal in this unit; absent: no bound. */
  readonly goal?: { readonly unit: 'impressions' | 'completes'; readonly units: number } | undefined;
}

/** What earlier statements have charged for a line item under one price. */
export interface EarlierCharge {
  /** `from` of the price. */
  readonly rate_from: string;
  readonly units: number;
  readonly days: number;
  readonly amount_micros: string;
}

/** A line item as it was known. */
export interface LineItemTerms {
  readonly line_item_id: string;
  readonly version: number;
  readonly name: string;
  readonly window: { readonly start: string; readonly end: string };
  /** When its flight began. */
  readonly began_at: string;
  /** When its flight ended before its window did, and whether it was stopped or had reached its goal. */
  readonly ended?: { readonly at: string; readonly state: 'completed' | 'stopped' } | undefined;
  /** By time; at least one. */
  readonly rates: readonly RateTerms[];
  readonly earlier: readonly EarlierCharge[];
}

/** Everything that a statement is computed from, beside the ledger. */
export interface StatementTerms {
  readonly currency: string;
  /** IANA name of the zone whose days prices are earned by, and adjustments belong to. */
  readonly time_zone: string;
  /** Deliveries before its end are charged; what was delivered before its start and is not charged yet is a correction. */
  readonly charged: { readonly start: string; readonly end: string };
  /** The ledger is read as it was known at this time. */
  readonly known_at: string;
  readonly line_items: readonly LineItemTerms[];
}

/** An adjustment by a reconciliation. */
export interface LedgerAdjustment {
  readonly reconciliation_id: string;
  readonly item_id: string;
  /** `YYYY-MM-DD`; it counts from the beginning of this local day on. */
  readonly day: string;
  readonly quantity: number;
  /** Event that its units are counted by. */
  readonly basis: string;
}

/** What the ledger says of a line item, as it was known at the time of the statement. */
export interface LedgerReading {
  readonly line_item_id: string;
  /** Units before the start and before the end of what is charged, by the price that was in force when their servings were decided. */
  readonly units: { readonly start: readonly number[]; readonly end: readonly number[] };
  readonly adjustments: readonly LedgerAdjustment[];
}

/** One line of a statement. */
export interface StatementLine {
  readonly line_item_id: string;
  /** `charge`: of its period; `correction`: of earlier periods, whose numbers have changed since, or were not charged. */
  readonly kind: 'charge' | 'correction';
  readonly name: string;
  readonly rate_from: string;
  readonly model: RateModel;
  readonly price_micros: string;
  readonly basis: ChargedBasis;
  readonly units: number;
  readonly days: number;
  /** Whole minor units of the currency, in millionths of it; negative where something is given back. */
  readonly amount_micros: string;
}

/** What a statement charges. The amounts of the lines sum to the total. */
export interface StatementContent {
  readonly lines: readonly StatementLine[];
  readonly total_micros: string;
}
