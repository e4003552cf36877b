import type { Dimension } from './analytics-queries.ts';

/** What a key of a dimension is called: countries in the language of the page; undefined for what is not known. */
export function keyName(key: string, dimension: Dimension, language: string): string | undefined {
  if (key === 'unknown') return undefined;
  if (dimension !== 'country') return key;
  try {
    return new Intl.DisplayNames(language, { type: 'region' }).of(key) ?? key;
  } catch {
    return key;
  }
}
