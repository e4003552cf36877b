export { allocate } from './allocate.ts';
export { isChargedByUnits } from './charge.ts';
export { computeStatement } from './compute-statement.ts';
export { earlierCharges } from './earlier-charges.ts';
export { earnedWithin } from './earned-within.ts';
export { microsPerMinorUnit } from './currency.ts';
export { formatAmount } from './format-amount.ts';
export { add, rational, roundHalfEven, zero, type Rational } from './rational.ts';
export { renderStatement } from './render-statement.ts';
export { statementFormats, type StatementDocument, type StatementFormat } from './statement-document.ts';
export type {
  EarlierCharge,
  LedgerReading,
  LineItemTerms,
  RateTerms,
  StatementContent,
  StatementLine,
} from './statement-terms.ts';
export { adjustmentsOf, inputsOf, statementOf, type Issue, type StoredStatement } from './statement-of.ts';
