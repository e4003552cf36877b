import type { StatementContent, StatementTerms } from './statement-terms.ts';

/** Inputs of a statement: its terms, and what names the parts of the ledger that were read. */
export interface StatementInputs extends StatementTerms {
  readonly campaign_id: string;
  readonly campaign_version: number;
  /** Statements whose amounts are taken off, in the order of their numbers. */
  readonly earlier_statement_ids: readonly string[];
  readonly reconciliation_ids: readonly string[];
  /** Why it was made without a closed reconciliation. */
  readonly reconciliation_waiver?: string | undefined;
  /** How many adjustments were known, and the SHA-256 (hex) over what `adjustmentsOf` lists of them, in canonical form (RFC 8785). */
  readonly adjustments: { readonly count: number; readonly sha256: string };
  readonly methodology_version: string;
  readonly lists_version: string;
}

/** An issued statement with everything that its documents say. */
export interface StatementDocument extends StatementContent {
  /** Of the form of documents: what renders a version never changes. */
  readonly version: 1;
  readonly statement_id: string;
  readonly workspace_id: string;
  readonly number: number;
  readonly kind: 'invoice' | 'credit_note';
  /** The statement that a credit note corrects, and its number. */
  readonly corrects?: { readonly id: string; readonly number: number } | undefined;
  readonly issued_at: string;
  readonly issuer_name: string;
  readonly advertiser_name: string;
  readonly campaign_name: string;
  readonly io_number?: string | undefined;
  readonly period: { readonly start: string; readonly end: string };
  readonly tax_note?: string | undefined;
  readonly inputs: StatementInputs;
  /** SHA-256 (hex) of the inputs in canonical form (RFC 8785). */
  readonly inputs_digest: string;
}

export const statementFormats = ['json', 'csv', 'html'] as const;
export type StatementFormat = (typeof statementFormats)[number];
