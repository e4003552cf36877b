/** This process finds these host names on this machine; the answer takes that back. */
export function reachHosts(names: readonly string[]): () => void;
