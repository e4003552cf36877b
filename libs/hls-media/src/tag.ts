/** A quoted string of a playlist (RFC 8216 §4.2): quotation marks become apostrophes, control characters a space. */
export const quoted = (text: string): string => `"${text.replaceAll('"', "'").replace(/\p{Cc}+/gu, ' ')}"`;

/**
 * An address as it stands in a playlist, alone on a line or in quotes. Throws `RangeError` for one that would be another line or attribute:
 * with control characters, white space or quotation marks, empty, or with `#` at its beginning.
 */
export function uriText(uri: string): string {
  if (!/^(?!#)[^\p{Cc}\s"]+$/u.test(uri)) throw new RangeError('an address that cannot stand in a playlist');
  return uri;
}

/** The lines of a playlist. */
export const lines = (...each: readonly string[]): string => each.map((line) => `${line}\n`).join('');
