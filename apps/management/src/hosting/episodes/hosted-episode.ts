import type { Attributes, ChangesOf } from '@longwave/command-catalog';
import { findResource, holdResource, type RuleInput } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import type { Episode } from './episode.ts';

type Snapshot = Attributes<'content_snapshots'>;
type Content = Snapshot['content']['episode'];

/** Ads that a marker takes when its platform names no number. */
const defaultSlots = 1;

/** The refusal of a command that would serve what the platform has not said. */
export const hostedElsewhere = (): Problem =>
  new Problem('state_not_allowed', 'Another platform hosts this podcast and says by its messages what serves.');

/** Throws `state_not_allowed` for an episode that another platform hosts: only its platform changes what serves. */
export async function requireHostedHere({
  tx,
  workspaceId,
  current,
}: Pick<RuleInput<Episode, unknown>, 'tx' | 'workspaceId' | 'current'>): Promise<void> {
  const podcast = await findResource(tx, workspaceId, 'podcasts', current.podcast_id);
  if (podcast?.attributes.hosted_by) throw hostedElsewhere();
}

/**
 * The version that an episode is to serve. It stays as it is until the transaction ends: a revocation comes before it or after it, never
 * between its check and its publication. Throws `state_not_allowed` for one that was revoked or superseded, is older than the version that
 * serves, or whose rights are over.
 */
export async function requireHostableSnapshot({
  tx,
  workspaceId,
  subjectId,
  current,
  changes,
  now,
}: RuleInput<Episode, ChangesOf<'episode.host_version'>>): Promise<Snapshot> {
  const { snapshot_id: id } = changes;
  const refuse = (detail: string) => new Problem('state_not_allowed', detail);
  const state = await holdResource(tx, workspaceId, 'content_snapshots', id);
  const snapshot = (await findResource(tx, workspaceId, 'content_snapshots', id))?.attributes;
  if (!snapshot || snapshot.episode_id !== subjectId || snapshot.production_id === undefined)
    throw refuse('That is no version of this episode.');
  if (state !== 'encoding' && state !== 'ready') throw refuse(`The version is ${state}.`);
  const { until } = snapshot.content.episode.rights ?? {};
  if (until !== undefined && Date.parse(until) <= now.getTime()) throw refuse('The rights of the version are over.');
  if (current.snapshot_id === undefined || current.snapshot_id === id) return snapshot;
  const serving = await findResource(tx, workspaceId, 'content_snapshots', current.snapshot_id);
  if (serving && serving.attributes.source_version > snapshot.source_version)
    throw refuse('The episode serves a later version.');
  return snapshot;
}

const markersOf = ({ markers = [], no_ads: noAds }: Content): NonNullable<Episode['markers']> =>
  noAds
    ? []
    : markers
        .map(({ max_slots: slots = defaultSlots, ...marker }) => ({
          ...marker,
          max_slots: slots,
          // A pre-roll has one place, whatever the platform writes.
          position_ms: marker.kind === 'pre' ? 0 : marker.position_ms,
        }))
        .toSorted((a, b) => a.position_ms - b.position_ms);

const chaptersOf = (chapters: NonNullable<Content['chapters']>): NonNullable<Episode['chapters']> =>
  chapters.map(({ img, ...chapter }) => ({ ...chapter, ...(img !== undefined && { image_url: img }) }));

/** The episode as a version describes it; `withProduction` gives it the audio, and keeps what fits into it. */
export function hostedEpisode(episode: Readonly<Episode>, snapshotId: string, snapshot: Readonly<Snapshot>): Episode {
  const {
    ads: _ads,
    markers: _markers,
    chapters: _chapters,
    chapters_from: _from,
    transcripts: _transcripts,
    ...kept
  } = episode;
  const { content, transcripts } = snapshot;
  const { title_ref: title, explicit, published_at: publishedAt, chapters, no_ads: noAds } = content.episode;
  const markers = markersOf(content.episode);
  return {
    ...kept,
    title,
    explicit,
    published_at: new Date(publishedAt).toISOString(),
    snapshot_id: snapshotId,
    ...(noAds && { ads: 'none' as const }),
    ...(markers.length > 0 && { markers }),
    // Absent: those of the file.
    ...(chapters && { chapters: chaptersOf(chapters), chapters_from: 'editor' as const }),
    ...(transcripts && { transcripts }),
  };
}
