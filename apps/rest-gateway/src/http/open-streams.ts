/** Counts the streams of each client that this process holds open. */
export interface OpenStreams {
  /** Undefined when the client has as many as it may; else ends the stream's place when called. */
  tryOpen(clientId: string): (() => void) | undefined;
}

/** @param maxPerClient streams that one client may have open at the same time */
export function createOpenStreams(maxPerClient: number): OpenStreams {
  const counts = new Map<string, number>();
  return {
    tryOpen: (clientId) => {
      const count = counts.get(clientId) ?? 0;
      if (count >= maxPerClient) return undefined;
      counts.set(clientId, count + 1);
      return () => {
        const left = (counts.get(clientId) ?? 1) - 1;
        if (left > 0) counts.set(clientId, left);
        else counts.delete(clientId);
      };
    },
  };
}
