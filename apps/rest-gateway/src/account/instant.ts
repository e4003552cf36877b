/** A time on the wire, in milliseconds, as RFC 3339. */
export const instantOf = (ms: bigint): string => new Date(Number(ms)).toISOString();
