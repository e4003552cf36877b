import type { Attributes } from '@longwave/command-catalog';
import type { ResourceRow } from '@longwave/command-pipeline';
import { breakPlanOf, type BreakPlanning } from './break-plan-of.ts';
import type { KnownVersion } from './intent-table.ts';

type Action = Attributes<'serving_intents'>['actions'][number];
type Halt = ResourceRow<'serving_halts'>;

/** What decides what should serve at the aliases of one platform. */
export interface IntentInputs extends BreakPlanning {
  readonly aliases: readonly ResourceRow<'delivery_aliases'>[];
  readonly versions: readonly KnownVersion[];
  /** Active ones, the oldest first. */
  readonly halts: readonly Halt[];
}

/** Whether a halt stops all advertising in plays of a podcast. */
const stopsAll = ({ attributes: { scope } }: Halt, podcastId: string): boolean =>
  scope.kind === 'workspace' ||
  (scope.kind === 'show' && scope.podcast_id === podcastId) ||
  (scope.kind === 'surface' && scope.surface === 'progressive');

/** Break plan and halt of plays with advertising. */
function advertisingOf(
  { podcastId, episodeId }: KnownVersion,
  inputs: IntentInputs,
  now: Date,
): Pick<Action, 'break_plan' | 'halt'> {
  if (podcastId === undefined || episodeId === undefined) return {};
  const plan = breakPlanOf(inputs, { podcastId, episodeId }, now);
  const halt = inputs.halts.find((each) => stopsAll(each, podcastId));
  return {
    ...(plan && { break_plan: { id: plan.id, version: plan.version } }),
    ...(halt && { halt: halt.id }),
  };
}

/** The version whose own file is given where that of the platform is: the newest that is ready, else the newest. */
const currentVersion = (versions: readonly KnownVersion[]): KnownVersion | undefined =>
  versions.toSorted(
    (a, b) => Number(b.state === 'ready') - Number(a.state === 'ready') || b.sourceVersion - a.sourceVersion,
  )[0];

/** What was revoked is nobody's to serve: its rights decide nothing. */
const areRightsOver = ({ state, rightsUntil }: KnownVersion, now: Date): boolean =>
  state !== 'revoked' && rightsUntil !== undefined && Date.parse(rightsUntil) <= now.getTime();

/**
 * What an address should serve: what public-delivery answers there (docs/services/public-delivery.md, “What other platforms host”).
 *
 * @param versions of the alias's target
 */
function actionOf(
  { lifecycle_state: state, attributes }: ResourceRow<'delivery_aliases'>,
  versions: readonly KnownVersion[],
  inputs: IntentInputs,
  now: Date,
): Action {
  const { alias, target, route_policy: policy } = attributes;
  const about = { alias, source_id: target.source_id };
  const ofPlatform = (shown: KnownVersion | undefined): Action =>
    shown && shown.state !== 'revoked'
      ? { ...about, source_version: shown.sourceVersion, presentation: 'source' }
      : { ...about, presentation: 'none' };
  // What the workspace has archived leads nowhere: that is how it ends an address.
  if (versions.some(({ isArchived }) => isArchived)) return ofPlatform(undefined);
  if (policy.route === 'source' && state === 'active') return ofPlatform(currentVersion(versions));
  const unavailable = () => ofPlatform(policy.when_unavailable === 'source' ? currentVersion(versions) : undefined);
  const played = versions.find(({ shownAs }) => shownAs !== undefined);
  if (state !== 'active' || !played) return unavailable();
  if (areRightsOver(played, now)) return ofPlatform(played);
  if (played.shownAs !== 'published' || played.state === 'revoked') return unavailable();
  const isStitched = policy.route === 'platform_controlled' && !played.noAds;
  return {
    ...about,
    source_version: played.sourceVersion,
    presentation: isStitched ? 'stitched' : 'clean',
    ...(played.renditionSha256 !== undefined && { rendition_sha256: played.renditionSha256 }),
    ...(isStitched && advertisingOf(played, inputs, now)),
  };
}

/** What should serve at each alias that is active or paused, in the order of their names. A retired one serves nothing for ever. */
export function intendedActions(inputs: IntentInputs, now: Date): Action[] {
  const bySource = Map.groupBy(inputs.versions, ({ sourceId }) => sourceId);
  return inputs.aliases.map((alias) =>
    actionOf(alias, bySource.get(alias.attributes.target.source_id) ?? [], inputs, now),
  );
}
