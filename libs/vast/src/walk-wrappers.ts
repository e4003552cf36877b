import type { InlineAd, RefusedAd, Refusal, Tracker, VastDocument } from './vast-document.ts';

/** Wrappers that are followed. */
export const maxWrappers = 3;

/** How far a chain of wrappers was followed. */
export interface WrapperWalk {
  /** Addresses that were asked, with their macros. */
  readonly visited: readonly string[];
  /** Trackers of the wrappers so far, the outermost first. */
  readonly trackers: readonly Tracker[];
  readonly followAdditionalWrappers: boolean;
  readonly allowMultipleAds: boolean;
  /** Wrappers that are followed: `maxWrappers`, or fewer. */
  readonly limit: number;
}

export type WalkStep =
  | { readonly kind: 'fetch'; readonly url: string; readonly walk: WrapperWalk }
  /** Ads in their order, each with the trackers of the wrappers before its own. */
  | { readonly kind: 'done'; readonly ads: readonly InlineAd[]; readonly refusedAds: readonly RefusedAd[] }
  /** The source has no ad now. */
  | { readonly kind: 'empty'; readonly errorUrls: readonly string[] }
  | Refusal;

/** An address that did not answer, or answered with no document. */
export interface Unanswered {
  readonly kind: 'unanswered';
  /** One sentence; default: that it did not answer in time. */
  readonly reason?: string;
}

/** Begins a chain at the address of a demand source, which the caller fetches first. It follows `limit` wrappers, and never more than three. */
export const beginWalk = (tagUrl: string, limit: number = maxWrappers): WrapperWalk => ({
  visited: [tagUrl],
  trackers: [],
  followAdditionalWrappers: true,
  allowMultipleAds: true,
  limit: Math.min(limit, maxWrappers),
});

const errorUrlsOf = (trackers: readonly Tracker[]) =>
  trackers.flatMap(({ event, url }) => (event === 'error' ? [url] : []));

const inWords = (wrappers: number) => (wrappers === 1 ? '1 wrapper' : `${wrappers} wrappers`);

/** Ads that the wrapper before them allows: all, or the first that stands alone (the first of a pod where none does). */
function allowedAds(ads: readonly InlineAd[], allowMultipleAds: boolean): readonly InlineAd[] {
  const inOrder = ads.toSorted((a, b) => (a.sequence ?? Infinity) - (b.sequence ?? Infinity) || 0);
  if (allowMultipleAds) return inOrder;
  return [ads.find(({ sequence }) => sequence === undefined) ?? inOrder[0]!];
}

/**
 * What to do with the document that the last address of a walk answered with: fetch the next one, or be done. Follows as many wrappers as the walk
 * allows. Refuses a further one, an address that was asked before and a wrapper that the one before forbids (302), a chain that ends without an
 * ad (303), and an address that did not answer (301). Every refusal names the error addresses of all wrappers on the way.
 */
export function walkWrappers(walk: WrapperWalk, document: VastDocument | Unanswered): WalkStep {
  const outerErrorUrls = errorUrlsOf(walk.trackers);
  const depth = walk.visited.length - 1;
  const refuse = (code: Refusal['code'], reason: string, own: readonly string[] = []): Refusal => ({
    ...{ kind: 'refused', code, reason },
    errorUrls: [...outerErrorUrls, ...own],
  });
  switch (document.kind) {
    case 'unanswered':
      return refuse(301, document.reason ?? 'The address of the document did not answer in time.');
    case 'refused':
      return refuse(document.code, document.reason, document.errorUrls);
    case 'empty':
      return depth === 0
        ? { kind: 'empty', errorUrls: document.errorUrls }
        : refuse(303, 'The chain of wrappers ends without an ad.', document.errorUrls);
    case 'inline':
      return {
        kind: 'done',
        ads: allowedAds(document.ads, walk.allowMultipleAds).map((ad) => ({
          ...ad,
          trackers: [...walk.trackers, ...ad.trackers],
        })),
        refusedAds: document.refusedAds.map((ad) => ({ ...ad, errorUrls: [...outerErrorUrls, ...ad.errorUrls] })),
      };
    case 'wrapper': {
      const { tagUrl, trackers, followAdditionalWrappers, allowMultipleAds } = document.wrapper;
      const own = errorUrlsOf(trackers);
      if (!walk.followAdditionalWrappers) return refuse(302, 'A wrapper follows one that forbids further ones.', own);
      if (depth >= walk.limit) return refuse(302, `The chain has more than ${inWords(walk.limit)}.`, own);
      if (walk.visited.includes(tagUrl)) return refuse(302, 'The wrapper leads back to an address of its chain.', own);
      return {
        kind: 'fetch',
        url: tagUrl,
        walk: {
          visited: [...walk.visited, tagUrl],
          trackers: [...walk.trackers, ...trackers],
          followAdditionalWrappers,
          allowMultipleAds,
          limit: walk.limit,
        },
      };
    }
  }
}
