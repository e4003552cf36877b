/** The two numbers of a stream id, `milliseconds-sequence`. */
function parseId(id: string): readonly [bigint, bigint] {
  const [millis = '0', sequence = '0'] = id.split('-');
  return [BigInt(millis), BigInt(sequence)];
}

/** Whether stream id `a` comes before `b`. */
export function isBefore(a: string, b: string): boolean {
  const [[aMillis, aSequence], [bMillis, bSequence]] = [parseId(a), parseId(b)];
  return aMillis < bMillis || (aMillis === bMillis && aSequence < bSequence);
}

/** The smallest stream id behind `id`. */
export function idAfter(id: string): string {
  const [millis, sequence] = parseId(id);
  return `${millis}-${sequence + 1n}`;
}

/** The greatest sequence of a stream id: 64 bits. */
const maxSequence = 2n ** 64n - 1n;

/** The greatest stream id before `id`; `0-0` for itself. */
export function idBefore(id: string): string {
  const [millis, sequence] = parseId(id);
  if (sequence > 0n) return `${millis}-${sequence - 1n}`;
  return millis === 0n ? '0-0' : `${millis - 1n}-${maxSequence}`;
}

/** A stream id with padded numbers: its texts sort like the ids. */
export function sortableId(id: string): string {
  const [millis, sequence] = parseId(id);
  return `${String(millis).padStart(16, '0')}-${String(sequence).padStart(20, '0')}`;
}
