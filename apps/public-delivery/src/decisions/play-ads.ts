import { servedAdSchema } from '@longwave/events';
import { z } from 'zod';
import type { FilledBreak } from '../arrangements/arranged-breaks.ts';

/** Addresses that a click on an ad may lead to: those that a browser opens by itself. */
export const clickUrlSchema = z.url({ protocol: /^https?$/ });

/** The part of an ad that counting needs; it travels in facts, never to a client. The click address travels nowhere. */
const countedAdSchema = z.strictObject({
  ...servedAdSchema.shape,
  billable: z.boolean().default(false),
  /** The approved address that a click leads to. */
  click_url: clickUrlSchema.optional(),
});
export const countedAdsSchema = z.record(z.string(), countedAdSchema);

/** By slot of the arrangement, "pre/0". */
export type CountedAds = z.infer<typeof countedAdsSchema>;

/** An ad as facts tell it. */
export const countedAd = ({ click_url: _clickUrl, ...counted }: CountedAds[string]) => counted;

/** The ads of a play: those that are joined to its file, and the same as they are counted. */
export interface PlayAds {
  readonly breaks: readonly FilledBreak[];
  readonly counted: CountedAds;
}

export const noAds: PlayAds = { breaks: [], counted: {} };

/** The ads that `keep` accepts; breaks without any are dropped. */
export function keepAds(
  { breaks, counted }: PlayAds,
  keep: (slot: string, ad: CountedAds[string]) => boolean,
): PlayAds {
  const left = Object.fromEntries(Object.entries(counted).filter(([slot, ad]) => keep(slot, ad)));
  return {
    breaks: breaks
      .map((each) => ({ ...each, ads: each.ads.filter(({ slot }) => slot in left) }))
      .filter(({ ads }) => ads.length > 0),
    counted: left,
  };
}
