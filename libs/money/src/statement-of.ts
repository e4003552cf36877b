import type { StatementDocument, StatementInputs } from './statement-document.ts';
import type { LedgerReading, StatementLine } from './statement-terms.ts';

/** A computed statement as it is stored. */
export interface StoredStatement {
  readonly kind: StatementDocument['kind'];
  readonly corrects?: string | undefined;
  readonly period: StatementDocument['period'];
  readonly tax_note?: string | undefined;
  readonly inputs: Omit<StatementInputs, keyof Evidence>;
  readonly evidence: Evidence & { readonly inputs_digest: string };
  readonly lines: readonly StatementLine[];
  readonly total_micros: string;
}

type Evidence = Pick<StatementInputs, 'adjustments' | 'methodology_version' | 'lists_version'>;

/** What a statement gets when it is issued. */
export interface Issue {
  readonly number: number;
  readonly issued_at: string;
  readonly parties: {
    readonly issuer_name: string;
    readonly advertiser_name: string;
    readonly campaign_name: string;
    readonly io_number?: string | undefined;
    readonly corrected_number?: number | undefined;
  };
}

/** Every adjustment of a reading of the ledger, in an order of its own: `RECONCILIATION/ITEM LINE_ITEM DAY QUANTITY BASIS`. */
export const adjustmentsOf = (readings: readonly LedgerReading[]): readonly string[] =>
  readings
    .flatMap(({ line_item_id: lineItemId, adjustments }) =>
      adjustments.map(
        ({ reconciliation_id: reconciliation, item_id: item, day, quantity, basis }) =>
          `${reconciliation}/${item} ${lineItemId} ${day} ${quantity} ${basis}`,
      ),
    )
    .toSorted();

/** All inputs of a stored statement, over which its digest is made. */
export const inputsOf = ({ inputs, evidence }: Pick<StoredStatement, 'inputs' | 'evidence'>): StatementInputs => {
  const { inputs_digest: _digest, ...parts } = evidence;
  return { ...inputs, ...parts };
};

/** An issued statement as its documents have it. */
export function statementOf(
  { id, workspace_id }: { readonly id: string; readonly workspace_id: string },
  stored: StoredStatement,
  { number, issued_at, parties: { corrected_number, ...parties } }: Issue,
): StatementDocument {
  const { kind, corrects, period, tax_note, evidence, lines, total_micros } = stored;
  return {
    ...{ version: 1, statement_id: id, workspace_id, number, kind, issued_at, ...parties, period },
    ...(corrects !== undefined && { corrects: { id: corrects, number: corrected_number! } }),
    ...(tax_note !== undefined && { tax_note }),
    ...{ lines, total_micros, inputs: inputsOf(stored), inputs_digest: evidence.inputs_digest },
  };
}
