export { allocate, type ExactLine } from './allocate.ts';
export { charge, isChargedByUnits, type RateModel } from './charge.ts';
export { computeStatement } from './compute-statement.ts';
export { minorDigits, microsPerMinorUnit } from './currency.ts';
export type { Days } from './due.ts';
export { earlierCharges } from './earlier-charges.ts';
export { formatAmount } from './format-amount.ts';
export { rational, roundHalfEven, type Rational } from './rational.ts';
export { renderStatement } from './render-statement.ts';
export {
  statementFormats,
  type StatementDocument,
  type StatementFormat,
  type StatementInputs,
} from './statement-document.ts';
export type {
  ChargedBasis,
  EarlierCharge,
  LedgerAdjustment,
  LedgerReading,
  LineItemTerms,
  RateTerms,
  StatementContent,
  StatementLine,
  StatementTerms,
} from './statement-terms.ts';
export { inputsOf, statementOf, type Issue, type StoredStatement } from './statement-of.ts';
