import { localeOf } from './format.ts';

/**
 * An amount of millionths with its currency, in at least the digits of its smallest unit: `EUR 18.50`, `JPY 1,200`, `BHD −3.250`. Nothing is rounded.
 * @param micros a whole number as text; negative where it is given back
 * @param currency code of ISO 4217
 */
export function moneyText(micros: string, currency: string, language: string): string {
  const [, sign = '', digits = '0'] = /^(-?)(\d+)$/.exec(micros) ?? [];
  const padded = digits.padStart(7, '0');
  const exact = `${sign}${padded.slice(0, -6)}.${padded.slice(-6)}`;
  const form = { style: 'currency', currency, currencyDisplay: 'code' } as const;
  const least = new Intl.NumberFormat('en', form).resolvedOptions().minimumFractionDigits ?? 2;
  const format = new Intl.NumberFormat(localeOf(language), { ...form, maximumFractionDigits: Math.max(6, least) });
  // A text is formatted digit by digit; a number would lose those beyond 2^53.
  return format.format(exact as `${number}`).replace('-', '−');
}
