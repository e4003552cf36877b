import type { CountedPart } from '@longwave/events';
import { tracksOf } from './credit-tracks.ts';
import { coveredBytes } from './intervals.ts';
import { byStart, writtenBy, type ServedRequest } from './served-request.ts';
import { playedOf } from './track.ts';

/** An ad all of whose bytes were written for its serving within a valid download (docs/counting.md#the-ledger-of-ads). */
export interface DeliveredAd {
  readonly servingId: string;
  readonly campaignId: string;
  readonly lineItemId: string;
  readonly creativeId: string;
  readonly breakKey: string;
  readonly slot: number;
  /** Whether its delivery bills the serving. */
  readonly billable: boolean;
}

type AdPart = CountedPart & { readonly ad: NonNullable<CountedPart['ad']> };

/** A serving in one place of an arrangement, and the requests that were made for it, in order. */
interface Offer {
  readonly place: string;
  readonly parts: readonly AdPart[];
  readonly requests: ServedRequest[];
}

const isAd = (part: CountedPart): part is AdPart => part.kind === 'ad' && part.ad !== undefined && part.to > part.from;

/** The servings that these requests were made for, each with its break, slot and creative. */
function offersOf(ordered: readonly ServedRequest[]): Offer[] {
  const offers = new Map<string, Offer>();
  for (const request of ordered) {
    const placeOf = ({ ad }: AdPart) => JSON.stringify([ad.break_key, ad.slot, ad.creative_id]);
    const byServing = Map.groupBy(
      request.layout.parts.filter(isAd),
      (part) => `${placeOf(part)} ${part.ad.serving_id}`,
    );
    for (const [name, parts] of byServing) {
      const known = offers.get(name);
      if (known === undefined) offers.set(name, { place: placeOf(parts[0]!), parts, requests: [request] });
      else known.requests.push(request);
    }
  }
  return [...offers.values()];
}

/** What an offer says of its ad. */
function adOf({ parts }: Offer): DeliveredAd {
  const { ad } = parts[0]!;
  return {
    servingId: ad.serving_id,
    campaignId: ad.campaign_id,
    lineItemId: ad.line_item_id,
    creativeId: ad.creative_id,
    breakKey: ad.break_key,
    slot: ad.slot,
    // Layouts that were stored before ads had a price lack the field.
    billable: ad.billable === true,
  };
}

/** Whether all of an ad was written by the first `count` of the requests that were made for it: every byte, or of HLS every cell. */
function isWhole({ parts, requests }: Offer, count = requests.length): boolean {
  const first = requests.slice(0, count);
  if (first[0]?.layout.track !== undefined) return playedOf(tracksOf(first)).whole;
  const written = writtenBy(first);
  return parts.every(({ from, to }) => coveredBytes(written, from, to) === to - from);
}

/** The request that wrote the last missing byte of a whole ad, by binary search: more requests never write less. */
function completedBy(offer: Offer): ServedRequest {
  let short = 0;
  let enough = offer.requests.length;
  while (enough - short > 1) {
    const middle = (short + enough) >> 1;
    if (isWhole(offer, middle)) enough = middle;
    else short = middle;
  }
  return offer.requests[enough - 1]!;
}

/**
 * The ads that requests of one arrangement delivered, in byte order; of HLS by break and slot. An ad is delivered when all its bytes were written by requests that
 * were made for its serving: bytes written for another decision, or for none, count for the download and never for this ad. Each break,
 * slot and creative is delivered once, by the serving that was whole first.
 * @param ordered by start
 */
export function deliveredAds(ordered: readonly ServedRequest[]): DeliveredAd[] {
  const whole = offersOf(ordered).filter((offer) => isWhole(offer));
  return [...Map.groupBy(whole, ({ place }) => place).values()]
    .map(([first, ...others]) =>
      others.reduce((best, one) => (byStart(completedBy(one), completedBy(best)) < 0 ? one : best), first!),
    )
    .sort((a, b) => a.parts[0]!.from - b.parts[0]!.from || (a.place < b.place ? -1 : 1))
    .map(adOf);
}

/**
 * The ads all of whose bytes these requests wrote for their serving, each serving once, whatever became of the download
 * (docs/counting.md#the-ledger-of-ads). Bytes of different arrangements are never added.
 * @param ordered by start
 */
export function servedAds(ordered: readonly ServedRequest[]): DeliveredAd[] {
  const arrangements = Map.groupBy(ordered, (request) => request.arrangementId);
  const ads = [...arrangements.values()].flatMap((own) => offersOf(own).filter((offer) => isWhole(offer)));
  return [...new Map(ads.map((offer) => [offer.parts[0]!.ad.serving_id, adOf(offer)])).values()];
}
