/** Counts the streams of each credential that this process holds open. */
export interface OpenStreams {
  /** Undefined when the credential has as many as it may; else ends the stream's place when called. */
  tryOpen(credentialId: string): (() => void) | undefined;
}

/** @param perCredentialMax streams that one credential may have open at the same time */
export function createOpenStreams(perCredentialMax: number): OpenStreams {
  const counts = new Map<string, number>();
  return {
    tryOpen: (credentialId) => {
      const count = counts.get(credentialId) ?? 0;
      if (count >= perCredentialMax) return undefined;
      counts.set(credentialId, count + 1);
      return () => {
        const left = (counts.get(credentialId) ?? 1) - 1;
        if (left > 0) counts.set(credentialId, left);
        else counts.delete(credentialId);
      };
    },
  };
}
