/** Currencies whose smallest unit is not a hundredth (ISO 4217:2015, column "minor unit"). */
const digitsOf: Readonly<Record<string, number>> = {
  ...{ BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0, VUV: 0 },
  ...{ XAF: 0, XOF: 0, XPF: 0, BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3, CLF: 4, UYW: 4 },
};

/** Digits of the smallest unit of a currency: 2 for EUR, 0 for JPY, 3 for BHD. @param currency code of ISO 4217 */
export const minorDigits = (currency: string): number => digitsOf[currency] ?? 2;

/** Millionths of the currency in its smallest unit: 10,000 for EUR. */
export const microsPerMinorUnit = (currency: string): bigint => 10n ** BigInt(6 - minorDigits(currency));
