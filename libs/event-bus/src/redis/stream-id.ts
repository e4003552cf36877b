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

/** A stream id with padded numbers: its texts sort like the ids. */
export function sortableId(id: string): string {
  const [millis, sequence] = parseId(id);
  return `${String(millis).padStart(16, '0')}-${String(sequence).padStart(20, '0')}`;
}
