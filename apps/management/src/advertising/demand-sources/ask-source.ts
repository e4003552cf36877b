import { readStart, type GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import {
  beginWalk,
  fillMacros,
  maxVastBytes,
  parseVast,
  walkWrappers,
  type InlineAd,
  type MacroContext,
  type RefusedAd,
  type Unanswered,
  type VastDocument,
} from '@longwave/vast';
import { allowsHost, type DemandSource } from './demand-source.ts';

export interface AskDeps {
  readonly fetch: GuardedFetch;
  readonly clock: () => Date;
  /** 0 to 1, 1 excluded. */
  readonly random: () => number;
}

/** For all documents of a chain together. */
const chainMs = 4_000;
const maxRedirects = 2;

/** What a demand source answered. `refused`: no document that can be used; the one refusal says why. */
export interface SourceAnswer {
  readonly kind: 'ads' | 'empty' | 'refused';
  readonly ads: readonly InlineAd[];
  readonly refusals: readonly RefusedAd[];
  /** Wrappers that were followed. */
  readonly wrappers: number;
}

/** What addresses are told at this moment. */
export const macrosNow = ({ clock, random }: Pick<AskDeps, 'clock' | 'random'>): MacroContext => ({
  now: clock(),
  cacheBusting: Math.floor(random() * 100_000_000),
  adType: 'audio',
});

/** One document of a chain. Hosts that are not on the list are not asked, and none of it is about a person. */
async function fetchDocument(
  { fetch, ...deps }: AskDeps,
  source: DemandSource,
  url: string,
  remainingMs: number,
): Promise<VastDocument | Unanswered> {
  if (remainingMs <= 0) return { kind: 'unanswered', reason: 'The documents of the chain together took too long.' };
  try {
    using response = await fetch(fillMacros(url, macrosNow(deps)), {
      ...{ maxRedirects, timeoutMs: Math.min(source.timeout_ms, remainingMs) },
      headers: { accept: 'application/xml, text/xml' },
      // One byte more than a document may have: the parser refuses it.
      maxBytes: Number.MAX_SAFE_INTEGER,
      allowsHost: (host) => allowsHost(source.allowed_hosts, host),
    });
    if (response.status === 204) return { kind: 'empty', version: '', errorUrls: [] };
    if (response.status !== 200)
      return { kind: 'unanswered', reason: `The address of the document answers with status ${response.status}.` };
    return parseVast(await readStart(response, maxVastBytes + 1));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { kind: 'unanswered', reason: `The address of the document cannot be fetched. ${error.message}` };
  }
}

/**
 * Asks a demand source for ads and follows its wrappers, by https at public addresses on its list alone: each document within the time of the
 * source, all within 4 s. It never throws for a source.
 */
export async function askSource(deps: AskDeps, source: DemandSource): Promise<SourceAnswer> {
  const endsAt = performance.now() + chainMs;
  let walk = beginWalk(source.endpoint, source.max_wrappers);
  let url = source.endpoint;
  for (let wrappers = 0; ; wrappers++) {
    const step = walkWrappers(walk, await fetchDocument(deps, source, url, endsAt - performance.now()));
    switch (step.kind) {
      case 'fetch':
        ({ url, walk } = step);
        break;
      case 'done':
        return { kind: 'ads', ads: step.ads, refusals: step.refusedAds, wrappers };
      case 'empty':
        return { kind: 'empty', ads: [], refusals: [], wrappers };
      case 'refused': {
        const { code, reason, errorUrls } = step;
        return { kind: 'refused', ads: [], refusals: [{ id: undefined, code, reason, errorUrls }], wrappers };
      }
    }
  }
}
