import type { Attributes } from '@longwave/command-catalog';
import { jcsDigest } from '@longwave/idempotency';
import {
  chooseMediaFile,
  fillMacros,
  type InlineAd,
  type MacroContext,
  type RefusedAd,
  type Tracker,
  type VastErrorCode,
} from '@longwave/vast';
import { allowsHost, lifeOf, shortestLifeMs, type DemandSource } from './demand-source.ts';

type Trackers = NonNullable<Attributes<'creatives'>['trackers']>;

/** An ad of a demand source that can be prepared. */
export interface UsableAd {
  /** The id in words of JSON: a registered one, or else what the source calls it. */
  readonly id: string;
  readonly name: string;
  readonly universalAdId: string;
  /** Digest of the id: ads of a source with the same one are versions of each other. */
  readonly adKey: string;
  /** Address of the media file as it was written, with macros. */
  readonly mediaUrl: string;
  readonly mediaType: string;
  readonly clickUrl: string | undefined;
  /** The same as it was written, with macros. */
  readonly clickTemplate: string | undefined;
  readonly categories: readonly string[];
  readonly trackers: Trackers;
  /** How long it may be assigned, in milliseconds. */
  readonly lifeMs: number;
  readonly errorUrls: readonly string[];
}

const maxTrackers = 24;
const maxUrlCharacters = 2000;
const maxCategories = 100;

const events = {
  ...{ impression: 'impression', start: 'start', firstQuartile: 'first_quartile', midpoint: 'midpoint' },
  ...{ thirdQuartile: 'third_quartile', complete: 'complete', click: 'click', error: 'error' },
} as const satisfies Record<Tracker['event'], Trackers[number]['event']>;

const errorUrlsOf = ({ trackers }: Pick<InlineAd, 'trackers'>): readonly string[] =>
  trackers.flatMap(({ event, url }) => (event === 'error' ? [url] : []));

const isKnown = (text: string) => text.toLowerCase() !== 'unknown';

/** The first id of a registry; undefined for an ad that has none. */
const registeredIdOf = ({ universalAdIds }: InlineAd) =>
  universalAdIds.find(({ registry, value }) => isKnown(registry) && isKnown(value));

function identityOf(ad: InlineAd): string {
  const registered = registeredIdOf(ad);
  return JSON.stringify(
    registered ? ['registered', registered.registry, registered.value] : ['own', ad.id ?? null, ad.creativeId ?? null],
  );
}

/** What is reviewed of an ad beside its file: where it leads to, and its categories. */
const claimsOf = ({ clickTemplate, categories }: UsableAd) => [clickTemplate ?? null, [...categories]] as const;

/** The key of an answer: what names the ad, where its file is, where it leads to, and its categories. */
export const answerKeyOf = (ad: UsableAd): string => jcsDigest([ad.id, ad.mediaUrl, ...claimsOf(ad)]);

/** The key of a creative: what names the ad, the bytes of its file (SHA-256, hex), where it leads to, and its categories. */
export const demandKeyOf = (ad: UsableAd, mediaSha256: string): string =>
  jcsDigest([ad.id, mediaSha256, ...claimsOf(ad)]);

/** Categories one by one: some people and sources write several into one text. */
const apart = (categories: readonly string[]): readonly string[] => [
  ...new Set(categories.flatMap((text) => text.split(/[\s,;|]+/)).filter((one) => one !== '')),
];

/** Whether a category is the blocked one or below it, as IAB7-39 is below IAB7; letters of any case. */
function isBlocked(category: string, blocked: string): boolean {
  const [one, parent] = [category.toLowerCase(), blocked.toLowerCase()];
  return one === parent || one.startsWith(`${parent}-`);
}

/** Judges an ad by the terms of its source: an ad that can be prepared, or a refusal with the error code of VAST. */
export function judgeAd(
  ad: InlineAd,
  source: Pick<DemandSource, 'allowed_hosts' | 'blocked_categories'>,
  macros: MacroContext,
): { readonly usable: UsableAd } | { readonly refused: RefusedAd } {
  const errorUrls = errorUrlsOf(ad);
  const refuse = (code: VastErrorCode, reason: string) => ({ refused: { id: ad.id, code, reason, errorUrls } });
  const choice = chooseMediaFile(ad.mediaFiles);
  if (choice.kind === 'refused') return refuse(choice.code, choice.reason);
  const { hostname } = new URL(fillMacros(choice.file.url, macros));
  if (!allowsHost(source.allowed_hosts, hostname))
    return refuse(401, `The media file is at the host ${hostname}, which is not among allowed_hosts.`);
  const categories = apart(ad.categories);
  const blocked = categories.find((category) =>
    apart(source.blocked_categories).some((parent) => isBlocked(category, parent)),
  );
  if (blocked !== undefined) return refuse(900, `The ad has the blocked category ${blocked}.`);
  // Policies ask for each of them: none may be left out.
  if (categories.length > maxCategories) return refuse(900, `The ad names more than ${maxCategories} categories.`);
  const lifeMs = lifeOf(ad.expiresSeconds);
  if (lifeMs < shortestLifeMs)
    return refuse(900, `The ad expires after ${ad.expiresSeconds} s, before it could be prepared and played.`);
  if (ad.trackers.length > maxTrackers)
    return refuse(900, `The ad and its wrappers have more than ${maxTrackers} trackers.`);
  if (ad.trackers.some(({ url }) => url.length > maxUrlCharacters))
    return refuse(900, `A tracker of the ad has more than ${maxUrlCharacters} characters.`);
  const click = ad.clickThroughUrl && fillMacros(ad.clickThroughUrl, macros);
  const id = identityOf(ad);
  return {
    usable: {
      ...{ id, errorUrls, lifeMs, adKey: jcsDigest([id]) },
      name: ad.title ?? ad.id ?? 'Ad of a demand source',
      universalAdId: registeredIdOf(ad)?.value ?? 'unknown',
      mediaUrl: choice.file.url,
      mediaType: choice.type,
      clickUrl: click !== undefined && click.length <= maxUrlCharacters ? click : undefined,
      clickTemplate: ad.clickThroughUrl,
      categories: categories.filter(({ length }) => length <= 64),
      trackers: ad.trackers.map(({ event, url }) => ({ event: events[event], url_template: url })),
    },
  };
}
