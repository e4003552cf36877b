import { lengthText, localeOf, spokenLength } from '../../parts/format.ts';

/**
 * A length that an attribute of this name has, as people read it: `0:30`, under a second `400 ms`, of a window `1 hour`; undefined where it is none.
 * How long another system is waited for stays a number of milliseconds.
 */
export function attributeLength(name: string, value: unknown, language: string): string | undefined {
  if (typeof value !== 'number') return undefined;
  if (name === 'window_seconds') return spokenLength(value * 1000, language);
  if (!name.endsWith('_ms') || name === 'timeout_ms') return undefined;
  if (value === 0 || value >= 1000) return lengthText(value);
  return new Intl.NumberFormat(localeOf(language), { style: 'unit', unit: 'millisecond' }).format(value);
}
