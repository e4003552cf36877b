import { minorDigits } from './currency.ts';

/** An amount as people write it, with the digits that its currency has: "-1234.50", "1235" (JPY). @param micros whole minor units */
export function formatAmount(micros: bigint, currency: string): string {
  const digits = minorDigits(currency);
  const sign = micros < 0n ? '-' : '';
  const text = (micros < 0n ? -micros : micros).toString().padStart(7, '0');
  const whole = text.slice(0, -6);
  return digits === 0 ? `${sign}${whole}` : `${sign}${whole}.${text.slice(-6).slice(0, digits)}`;
}
