import { maxStatementLines, type Attributes } from '@longwave/command-catalog';
import type { StatementContent } from '@longwave/money';

type BillingStatement = Attributes<'billing_statements'>;

/** Why a draft cannot be recorded as it was computed; undefined when it can. */
export function draftProblem(
  kind: BillingStatement['kind'],
  { lines, total_micros: total }: StatementContent,
): BillingStatement['problem'] {
  if (kind === 'credit_note' && (lines.length === 0 || BigInt(total) >= 0n))
    return {
      code: 'nothing_to_credit',
      detail: 'By the numbers of now, these statements have charged nothing too much.',
    };
  if (lines.length === 0)
    return { code: 'nothing_due', detail: 'Nothing is due for this period, and nothing of earlier ones has changed.' };
  if (lines.length > maxStatementLines)
    return {
      code: 'too_many_lines',
      detail: `A statement has at most ${maxStatementLines.toLocaleString('en')} lines, and this one would have ${lines.length.toLocaleString('en')}: one for each line item and price. Choose a shorter period, in which fewer prices were charged.`,
    };
  return undefined;
}
