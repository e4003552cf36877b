import type { Attributes } from '@longwave/command-catalog';
import type { ResourceRow } from '@longwave/command-pipeline';
import type { Issue, StatementLine, StoredStatement } from '@longwave/money';
import { Problem } from '@longwave/problems';

export type BillingStatement = Attributes<'billing_statements'>;
export type StatementRow = ResourceRow<'billing_statements'>;
/** Half-open. */
export type Period = BillingStatement['period'];

/** States of a statement whose amounts count. */
export const standingStates: readonly string[] = ['issued', 'disputed', 'settled'];

/** States of an issued statement that a person still has to end. */
export const openStates: readonly string[] = ['issued', 'disputed'];

/** Drafts that a campaign has at the same time. */
export const maxDrafts = 20;

/** The end of the time that statements have charged; undefined before the first. */
export const chargedUntil = (statements: readonly { readonly chargedEnd: string }[]): string | undefined =>
  statements
    .map(({ chargedEnd }) => chargedEnd)
    .reduce<string | undefined>(
      (latest, end) => (latest === undefined || Date.parse(end) > Date.parse(latest) ? end : latest),
      undefined,
    );

/** A draft with everything that its documents are rendered from. Throws `state_not_allowed` before it is computed. */
export function computed(statement: Readonly<BillingStatement>): StoredStatement {
  const { evidence, lines, total_micros: total } = statement;
  if (!evidence || !lines || total === undefined)
    throw new Problem('state_not_allowed', 'The draft is still being computed. Wait until its operation has ended.');
  return { ...statement, evidence, lines, total_micros: total };
}

/** What a statement got when it was issued. Throws `state_not_allowed` before that. */
export function issueOf(statement: Readonly<BillingStatement>): Issue {
  const { number, issued_at: issuedAt, parties } = statement;
  if (number === undefined || issuedAt === undefined || !parties)
    throw new Problem('state_not_allowed', 'The statement is not issued.');
  return { number, issued_at: issuedAt, parties };
}

/** Throws `state_not_allowed` while the documents of an issued statement are being stored: what ends it comes after them. */
export function assertStored({ files, problem }: Readonly<BillingStatement>): void {
  if (files === undefined && problem === undefined)
    throw new Problem('state_not_allowed', 'Its documents are still being stored. Wait until its operation has ended.');
}

const negative = (line: StatementLine): StatementLine => ({
  ...line,
  units: 0 - line.units,
  days: 0 - line.days,
  amount_micros: (-BigInt(line.amount_micros)).toString(),
});

/** The exact negative of a statement that is voided. */
export function reversalOf(
  statement: Readonly<BillingStatement>,
  now: Date,
): NonNullable<BillingStatement['reversal']> {
  const { lines, total_micros: total } = computed(statement);
  return {
    reversed_at: now.toISOString(),
    lines: lines.map(negative),
    total_micros: (-BigInt(total)).toString(),
  };
}
