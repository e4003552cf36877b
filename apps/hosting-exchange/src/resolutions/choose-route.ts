import type { Attributes } from '@longwave/command-catalog';
import type { RouteFacts, SnapshotRow } from '../projection/resource-tables.ts';

export type Route = 'source' | 'ad_free' | 'platform_controlled' | 'clean';

/** Why a route was chosen: one of a closed list. */
export const reasonCodes = [
  'as_asked',
  'by_policy',
  'direct_without_redirects',
  'direct_without_ranges',
  'no_ads_in_rights',
  'surface_not_current',
  'surface_without_progressive',
  'alias_needed',
  'alias_paused',
  'alias_retired',
  'not_ready',
  'failed',
  'revoked',
  'rights_ended',
  'unpublished',
  'archived',
] as const;
type ReasonCode = (typeof reasonCodes)[number];

/** A route for one surface. */
export interface ChosenRoute {
  readonly route: Route;
  /** Null: nothing may be delivered. */
  readonly url: string | null;
  readonly expiresAt: Date;
  readonly aliasVersion: number | null;
  readonly contentVersion: number | null;
  readonly reasonCode: ReasonCode;
}

/** An answer holds so long, unless something that it rests on ends earlier. */
const lifeMs = 300_000;

type Capability = Attributes<'surface_capabilities'>['capability'];

/** The clean audio of a version: nothing is decided, nothing inserted. */
const cleanUrl = (mediaUrl: string, { attributes }: SnapshotRow): string | null => {
  const { rendition, episode_id: episodeId } = attributes;
  if (!rendition || episodeId === undefined) return null;
  return `${mediaUrl}/delivery/v1/a/${rendition.sha256}/episode.mp3?e=${episodeId}`;
};

/** The platform's own file of a version; a revoked one has none. */
const masterUrl = (snapshot: SnapshotRow | undefined): string | null =>
  snapshot === undefined || snapshot.state === 'revoked' ? null : snapshot.attributes.content.episode.audio_master.url;

/** The version whose own file is given where that of the platform is: the newest that is ready, else the newest. */
const currentVersion = ({ serving, newest }: RouteFacts): SnapshotRow | undefined => serving ?? newest;

/** A surface that follows no redirects, or cannot ask for ranges of another address, gets the bytes at once. */
function directReason({ max_redirects: redirects, ranges }: Capability): ReasonCode | undefined {
  if (redirects < 1) return 'direct_without_redirects';
  return ranges ? undefined : 'direct_without_ranges';
}

const hasPassed = (time: string | undefined, now: Date): boolean =>
  time !== undefined && Date.parse(time) <= now.getTime();

/** Whether our rights of a version have ended; a revoked version has none to end. */
const areRightsOver = ({ state, attributes }: SnapshotRow, now: Date): boolean =>
  state === 'lapsed' || (state !== 'revoked' && hasPassed(attributes.content.episode.rights?.until, now));

/** The version that the episode plays: while the episode is not known, the one that serves or did until its rights ended. */
const playedVersion = ({ played, serving, newest }: RouteFacts): SnapshotRow | undefined =>
  played ?? serving ?? (newest?.state === 'lapsed' ? newest : undefined);

/** The version whose audio of ours may serve, or why none may. */
type OurAudio = { readonly snapshot: SnapshotRow } | { readonly reason: ReasonCode };

function ourAudio(facts: RouteFacts, now: Date): OurAudio {
  const { newest, serving, episodeState, podcastState } = facts;
  const played = playedVersion(facts);
  if (played && areRightsOver(played, now)) return { reason: 'rights_ended' };
  if (!serving && newest?.state === 'revoked') return { reason: 'revoked' };
  const isHidden = [episodeState, podcastState].some((state) => state !== undefined && state !== 'published');
  if (serving && isHidden) return { reason: 'unpublished' };
  return serving ? { snapshot: serving } : { reason: newest?.state === 'failed' ? 'failed' : 'not_ready' };
}

interface Chosen {
  readonly route: Route;
  readonly url: string | null;
  readonly reason: ReasonCode;
  /** The one that the URL leads to. */
  readonly version?: SnapshotRow | undefined;
}

const ofPlatform = (version: SnapshotRow | undefined, reason: ReasonCode): Chosen => ({
  route: 'source',
  url: masterUrl(version),
  reason,
  version,
});

/**
 * Without audio of ours: the master where the policy allows it, but never a revoked one. When our rights have ended, its platform serves it,
 * whatever the policy.
 */
function unavailable(facts: RouteFacts, reason: ReasonCode): Chosen {
  if (reason === 'rights_ended') return ofPlatform(playedVersion(facts), reason);
  const mayGoToSource = facts.alias?.attributes.route_policy.when_unavailable === 'source';
  return ofPlatform(mayGoToSource && reason !== 'alias_retired' ? currentVersion(facts) : undefined, reason);
}

/** Our audio for a surface, by the route that is wanted or the nearest that the surface can play. */
function withOurAudio(
  { alias, surface }: RouteFacts,
  version: SnapshotRow,
  wanted: { readonly route: Route; readonly reason: ReasonCode },
  options: ChooseOptions,
): Chosen {
  const { mediaUrl, now } = options;
  const clean = (reason: ReasonCode, route: Route = 'clean'): Chosen => ({
    ...{ route, reason, version },
    url: cleanUrl(mediaUrl, version),
  });
  if (wanted.route !== 'platform_controlled') return clean(wanted.reason, wanted.route);
  if (version.attributes.content.episode.no_ads) return clean('no_ads_in_rights');
  const capability = surface?.attributes.capability;
  if (!capability || surface.state !== 'current' || hasPassed(capability.valid_until, now))
    return clean('surface_not_current');
  if (!capability.protocols.includes('progressive')) return clean('surface_without_progressive');
  // Only an alias has an address at which ads are decided.
  if (!alias) return clean('alias_needed');
  const { host, path_slug: slug } = alias.attributes;
  const direct = directReason(capability);
  const url = `${mediaUrl}/delivery/v1/x/${host}/${slug}.mp3${direct ? '?direct=1' : ''}`;
  return { route: 'platform_controlled', url, reason: direct ?? wanted.reason, version };
}

/** The route that is asked for, or that of the alias; `clean` for a source. */
function wantedRoute({ alias }: RouteFacts, asked: Route | undefined) {
  const policy = alias?.attributes.route_policy.route;
  // Ads are decided at the address of an alias only where its own policy says so.
  const isPossible = asked !== 'platform_controlled' || policy === undefined || policy === 'platform_controlled';
  const route = (isPossible ? asked : undefined) ?? policy ?? 'clean';
  return { route, reason: route === asked ? 'as_asked' : 'by_policy' } as const;
}

function choose(facts: RouteFacts, asked: Route | undefined, options: ChooseOptions): Chosen {
  if (facts.alias?.state === 'retired') return unavailable(facts, 'alias_retired');
  // What the workspace has archived leads nowhere, not even to the file of the platform: that is how it ends an address.
  if ([facts.episodeState, facts.podcastState].includes('archived')) return ofPlatform(undefined, 'archived');
  if (facts.alias?.state === 'paused') return unavailable(facts, 'alias_paused');
  const wanted = wantedRoute(facts, asked);
  // The file of the platform needs nothing of ours: no encoding, no right, no published episode.
  if (wanted.route === 'source') {
    const current = currentVersion(facts);
    return ofPlatform(current, current?.state === 'revoked' ? 'revoked' : wanted.reason);
  }
  const found = ourAudio(facts, options.now);
  return 'reason' in found ? unavailable(facts, found.reason) : withOurAudio(facts, found.snapshot, wanted, options);
}

interface ChooseOptions {
  readonly mediaUrl: string;
  readonly now: Date;
}

/**
 * Chooses the route of an alias or a source for a surface (docs/hosting-exchange.md, “Resolutions”), as public-delivery answers at the address
 * of the alias (docs/services/public-delivery.md, “What other platforms host”).
 */
export function chooseRoute(facts: RouteFacts, asked: Route | undefined, options: ChooseOptions): ChosenRoute {
  const { now } = options;
  const { route, url, reason, version } = choose(facts, asked, options);
  const ends = [
    facts.surface?.attributes.capability.valid_until,
    version?.attributes.content.episode.rights?.until,
  ].flatMap((time) => (time !== undefined && Date.parse(time) > now.getTime() ? [Date.parse(time)] : []));
  return {
    route,
    url,
    expiresAt: new Date(Math.min(now.getTime() + lifeMs, ...ends)),
    aliasVersion: facts.alias?.attributes.source_version ?? null,
    contentVersion: url === null ? null : (version?.source_version ?? null),
    reasonCode: reason,
  };
}
