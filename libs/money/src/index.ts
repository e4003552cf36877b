export { minorDigits, microsPerMinorUnit } from './currency.ts';
