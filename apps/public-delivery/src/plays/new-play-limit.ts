/** Says whether one more play may begin at an address in the minute of `at`, and counts it if so. */
export type NewPlayLimit = (addressKey: string, at: Date) => boolean;

const minuteMs = 60_000;

/** Bounds the plays that begin at one address, in this process. @param maxPlays a minute */
export function createNewPlayLimit(maxPlays: number): NewPlayLimit {
  let minute = 0;
  const begun = new Map<string, number>();
  return (addressKey, at) => {
    const now = Math.floor(at.getTime() / minuteMs);
    if (now !== minute) begun.clear();
    minute = now;
    const plays = begun.get(addressKey) ?? 0;
    if (plays >= maxPlays) return false;
    begun.set(addressKey, plays + 1);
    return true;
  };
}
