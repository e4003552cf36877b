/** Half-open byte interval [from, to). */
export interface ByteInterval {
  readonly from: number;
  readonly to: number;
}

/** The meaning of a Range header for a representation of known length. */
export type RangeRequest =
  /** No header, another unit, or not valid: RFC 9110 §14.2 lets the whole representation be sent. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'single'; readonly interval: ByteInterval }
  /** Several ranges; the satisfiable ones in the order asked. */
  | { readonly kind: 'several'; readonly intervals: readonly ByteInterval[] }
  | { readonly kind: 'unsatisfiable' };

const specification = /^(?:(\d+)-(\d*)|-(\d+))$/;
/** More than this many ranges are not worth reading (RFC 9110 §17.15). */
const maxRanges = 64;

/**
 * The interval of one range-spec, null when it lies outside, undefined when it is not valid (RFC 9110 §14.1.1–14.1.2).
 * Positions too large for a number are as good as infinite.
 */
function resolve(text: string, length: number): ByteInterval | null | undefined {
  const match = specification.exec(text);
  if (!match) return undefined;
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const size = Math.min(Number(suffix), length);
    return size === 0 ? null : { from: length - size, to: length };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= length ? null : { from, to: last === '' ? length : Math.min(Number(last) + 1, length) };
}

/**
 * Reads a Range header against a length (RFC 9110 §14.2). Only for GET; other methods ignore the header. `range-parser`, which express
 * brings, finds nothing in a suffix longer than the file and answers 416 to a range that is not valid.
 * @param length bytes of the selected representation
 */
export function readRange(header: string | undefined, length: number): RangeRequest {
  const set = /^bytes=(.*)$/i.exec(header?.trim() ?? '')?.[1];
  if (set === undefined) return { kind: 'whole' };
  const texts = set
    .split(',')
    .map((text) => text.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((text) => text !== '');
  if (texts.length === 0 || texts.length > maxRanges) return { kind: 'whole' };
  const resolved = texts.map((text) => resolve(text, length));
  if (resolved.includes(undefined)) return { kind: 'whole' };
  const intervals = resolved.filter((interval) => interval !== null && interval !== undefined);
  if (intervals.length === 0) return { kind: 'unsatisfiable' };
  return texts.length === 1 ? { kind: 'single', interval: intervals[0]! } : { kind: 'several', intervals };
}
