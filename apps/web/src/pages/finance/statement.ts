import type { Attributes } from '../../api/management.ts';

/** A line of a statement: what is charged for one line item at one price, or corrected of earlier periods. */
export interface StatementLine {
  readonly line_item_id: string;
  readonly kind: 'charge' | 'correction';
  readonly name: string;
  /** Since when its price holds. */
  readonly rate_from: string;
  readonly model: string;
  readonly price_micros: string;
  readonly basis: string;
  readonly units: number;
  readonly days: number;
  readonly amount_micros: string;
}

/** What the page reads of a statement. */
export interface Statement extends Attributes {
  readonly campaign_id: string;
  readonly kind: 'invoice' | 'credit_note';
  readonly corrects?: string;
  readonly tax_note?: string;
  readonly inputs: {
    readonly currency: string;
    readonly time_zone: string;
    readonly charged: { readonly start: string; readonly end: string };
    readonly known_at: string;
    readonly line_items: readonly { readonly rates: readonly { readonly model: string; readonly basis: string }[] }[];
    readonly earlier_statement_ids: readonly string[];
    readonly reconciliation_ids: readonly string[];
    readonly reconciliation_waiver?: string;
  };
  readonly evidence?: {
    readonly adjustments: { readonly count: number };
    readonly methodology_version: string;
    readonly inputs_digest: string;
  };
  readonly lines?: readonly StatementLine[];
  readonly total_micros?: string;
  readonly problem?: { readonly detail: string };
  readonly number?: number;
  readonly issued_at?: string;
  readonly parties?: {
    readonly issuer_name: string;
    readonly advertiser_name: string;
    readonly campaign_name: string;
    readonly io_number?: string;
  };
  readonly documents?: readonly { readonly format: string; readonly sha256: string; readonly size_bytes: number }[];
  readonly payment_ref?: string;
  readonly reversal?: { readonly reversed_at: string; readonly total_micros: string };
}

/** The bases by which the lines are counted, each once: a total is based on all of them. Prices by the day count no units. */
export const basesOf = (lines: readonly Pick<StatementLine, 'model' | 'basis'>[]): readonly string[] => [
  ...new Set(lines.map(({ model, basis }) => (model === 'cpm' || model === 'cpcv' ? basis : model))),
];

/** What is charged of this period, and what of earlier ones is corrected. */
export const linesByKind = (lines: readonly StatementLine[]) => ({
  charges: lines.filter(({ kind }) => kind === 'charge'),
  corrections: lines.filter(({ kind }) => kind === 'correction'),
});

/** The sum of some lines, in millionths. */
export const sumOf = (lines: readonly StatementLine[]): string =>
  String(lines.reduce((sum, { amount_micros: micros }) => sum + BigInt(micros), 0n));
