/** A quoted string of a playlist (RFC 8216 §4.2): quotation marks become apostrophes, line ends spaces. */
export const quoted = (text: string): string => `"${text.replaceAll('"', "'").replace(/[\r\n]+/g, ' ')}"`;

/** The lines of a playlist. */
export const lines = (...each: readonly string[]): string => each.map((line) => `${line}\n`).join('');
