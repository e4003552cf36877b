import { createDisjointSets } from './disjoint-sets.ts';
import { byStart, dayMs, type ServedRequest } from './served-request.ts';

/** Keys of one play that may be one listener: a token that more of them used was passed on, and joins nobody. */
export const maxKeysOfPlay = 8;

/** Requests without a gap of 24 h between them: nothing that is counted reaches across one. */
function unbrokenRuns<R extends ServedRequest>(requests: readonly R[]): R[][] {
  const runs: R[][] = [];
  let previousMs = -Infinity;
  for (const request of requests.toSorted(byStart)) {
    if (request.startedAtMs - previousMs < dayMs) runs.at(-1)!.push(request);
    else runs.push([request]);
    previousMs = request.startedAtMs;
  }
  return runs;
}

/**
 * Divides requests for one episode by listener (docs/counting.md#one-play-several-keys). Chains of keys are listeners; two of them are
 * one, as long as each listens without a gap of 24 h, when both used the token of one play within 24 h of its opening and share the
 * address or the user agent. The result depends on the set of requests alone.
 * @param chainOf names the chain of a request's key: the keys of one address and user agent over changes of secrets
 * @param crowded plays that more keys used than these requests show
 */
export function splitListeners<R extends ServedRequest>(
  requests: readonly R[],
  chainOf: (request: R) => string,
  crowded: ReadonlySet<string> = new Set(),
): R[][] {
  const key = requests[0]?.listenerKey;
  if (requests.every(({ listenerKey }) => listenerKey === key)) return [[...requests]];
  const chains = [...Map.groupBy(requests, chainOf).values()];
  if (chains.length < 2) return chains;
  const runs = chains.flatMap(unbrokenRuns);
  const listeners = createDisjointSets();
  const uses = runs.flatMap((run, nth) =>
    run.flatMap(({ play, listenerKey, startedAtMs }) =>
      play ? [{ ...play, listenerKey, startedAtMs, run: `${nth}` }] : [],
    ),
  );
  for (const [playId, own] of Map.groupBy(uses, (use) => use.playId)) {
    if (crowded.has(playId) || new Set(own.map((use) => use.listenerKey)).size > maxKeysOfPlay) continue;
    const latest = new Map<string, { readonly run: string; readonly startedAtMs: number }>();
    for (const use of own.sort((a, b) => a.startedAtMs - b.startedAtMs))
      for (const shared of [`address ${use.addressKey}`, `agent ${use.userAgentDigest}`]) {
        const before = latest.get(shared);
        if (before !== undefined && use.startedAtMs - before.startedAtMs < dayMs) listeners.join(use.run, before.run);
        latest.set(shared, use);
      }
  }
  return [...Map.groupBy(runs.entries(), ([nth]) => listeners.setOf(`${nth}`)).values()].map((joined) =>
    joined.flatMap(([, run]) => run),
  );
}
