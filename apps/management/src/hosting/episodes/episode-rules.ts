import { maxNotesBytes, type productCatalog } from '@longwave/command-catalog';
import { findResource, listLinked, lockResource, type RuleInput, type Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import { prepareArtworkChange, type ArtworkOptions } from '../podcasts/artwork-change.ts';
import { withSafeNotes } from '../show-notes.ts';
import { assertNotReverted } from '../batch-encodings/batch-encoding-table.ts';
import type { Podcast } from '../podcasts/podcast.ts';
import type { Production } from '../productions/production.ts';
import { requireFreeGuid } from './episode-table.ts';
import {
  checkedChapters,
  checkedMarkers,
  checkSoundbites,
  createEpisode,
  publishedEpisode,
  assertNoErrors,
  withPlaysEnded,
  withProduction,
  type Episode,
} from './episode.ts';
import { hostedElsewhere, hostedEpisode, requireHostableSnapshot, requireHostedHere } from './hosted-episode.ts';
import { isPlayable, requireAudio } from './require-audio.ts';
import { storeTranscripts } from './store-transcripts.ts';

type EpisodeCommand = Extract<keyof Rules<typeof productCatalog>, `episode.${string}`>;
type EpisodeRules = Pick<Rules<typeof productCatalog>, EpisodeCommand>;

/** Throws for an archived podcast; the pipeline has checked that it exists. */
async function requireLivingPodcast(
  { tx, workspaceId }: RuleInput<Episode, unknown>,
  podcastId: string,
): Promise<void> {
  const podcast = await findResource(tx, workspaceId, 'podcasts', podcastId);
  if (podcast?.lifecycle_state === 'archived')
    throw new Problem('state_not_allowed', 'The podcast is archived, so no episodes can be added.');
  if (podcast?.attributes.hosted_by) throw hostedElsewhere();
}

/**
 * Locks a production of the episode that has audio, so that it cannot be deleted or get another source meanwhile. A deleted clip takes the
 * audio away, unless it was just encoded again. Throws `episode_has_no_audio`.
 */
async function productionWithAudio(
  { tx, workspaceId, subjectId, actor }: RuleInput<Episode, unknown>,
  productionId: string,
  isNew = false,
): Promise<Production> {
  const production = await lockResource(tx, workspaceId, 'productions', productionId);
  const clips = await listLinked(tx, workspaceId, 'media_clips', 'production', productionId);
  const isEncoded = production?.lifecycle_state === 'encoded';
  const isTakenAway = clips.at(-1)?.lifecycle_state === 'deleted' && !(isEncoded && isNew);
  const isAllowed = isEncoded || actor.kind === 'service';
  if (!isPlayable(production) || isTakenAway || !isAllowed || production.attributes.episode_id !== subjectId)
    throw new Problem('episode_has_no_audio', 'Attach an encoded production of this episode.');
  return production.attributes;
}

const podcastOf = async ({ tx, workspaceId, current }: RuleInput<Episode, unknown>): Promise<Podcast> =>
  (await findResource(tx, workspaceId, 'podcasts', current.podcast_id))!.attributes;

const audible = (input: RuleInput<Episode, unknown>) =>
  requireAudio(input.tx, input.workspaceId, input.subjectId, input.current);

/** Rules of the episode commands. */
export const episodeRules = (options: ArtworkOptions & { readonly store: ObjectStore }): EpisodeRules => ({
  'episode.create': {
    prepare: async (prepared) => {
      const withArtwork = await prepareArtworkChange(options, prepared);
      return async (input) => {
        const { changes, subjectId, tx } = input;
        await requireLivingPodcast(input, changes.podcast_id);
        if (changes.guid !== undefined) await requireFreeGuid(tx, changes.podcast_id, changes.guid);
        return {
          attributes: withArtwork(createEpisode(withSafeNotes(changes, maxNotesBytes), subjectId), input.current),
        };
      };
    },
  },

  'episode.import': async (input) => {
    const { changes, subjectId, tx } = input;
    await requireFreeGuid(tx, changes.podcast_id, changes.guid);
    const { published_at: publishedAt, publish_at: publishAt, ...rest } = changes;
    return {
      attributes: {
        ...createEpisode(withSafeNotes(rest, maxNotesBytes), subjectId),
        ...(publishedAt !== undefined && { published_at: new Date(publishedAt).toISOString() }),
        ...(publishAt !== undefined && { publish_at: new Date(publishAt).toISOString() }),
      },
    };
  },

  'episode.revise': {
    prepare: async (prepared) => {
      const withArtwork = await prepareArtworkChange(options, prepared);
      return ({ current, changes }) => {
        checkSoundbites(changes.soundbites, current.duration_ms);
        return { attributes: withArtwork({ ...current, ...withSafeNotes(changes, maxNotesBytes) }, current) };
      };
    },
  },

  'episode.set_chapters': ({ current, changes }) => {
    const { chapters: _chapters, chapters_from: _from, ...kept } = current;
    if (changes.chapters.length === 0) return { attributes: kept };
    return {
      attributes: {
        ...kept,
        chapters: checkedChapters(changes.chapters, current.duration_ms),
        chapters_from: 'editor',
      },
    };
  },

  'episode.set_transcripts': {
    prepare: async ({ workspaceId, actor, changes }) => {
      const transcripts = await storeTranscripts(options, { workspaceId, actor, transcripts: changes.transcripts });
      return ({ current }) => {
        const { transcripts: _transcripts, ...kept } = current;
        return { attributes: { ...kept, ...(transcripts.length > 0 && { transcripts }) } };
      };
    },
  },

  'episode.set_markers': ({ current, changes }) => ({
    attributes: { ...current, markers: checkedMarkers(changes.markers, current.duration_ms) },
  }),

  'episode.attach_production': async (input) => {
    const { current, changes, actor, now } = input;
    await requireHostedHere(input);
    const production = await productionWithAudio(input, changes.production_id, actor.kind === 'service');
    // A person may choose any production; the follower attaches none of a reverted batch encoding.
    if (actor.kind === 'service') await assertNotReverted(input, current.podcast_id, production.batch_encoding_id);
    const mode = changes.mode ?? (actor.kind === 'service' ? production.replacement_mode : undefined);
    const episode = withProduction(current, changes.production_id, production, await podcastOf(input));
    return { attributes: withPlaysEnded(episode, mode, now) };
  },

  'episode.apply_template': async (input) => {
    const { current, changes } = input;
    const { production_id: productionId, batch_encoding_id: batchId } = changes;
    const audio =
      productionId === undefined
        ? current
        : withProduction(current, productionId, await productionWithAudio(input, productionId), await podcastOf(input));
    const attributes = { ...audio, batch_encoding_id: batchId };
    for (const part of ['intro', 'outro'] as const) {
      const segment = changes[part];
      if (segment === null) delete attributes[part];
      else if (segment !== undefined) attributes[part] = segment;
    }
    return { attributes };
  },

  'episode.host_version': async (input) => {
    const snapshot = await requireHostableSnapshot(input);
    const production = await productionWithAudio(input, snapshot.production_id!, true);
    const hosted = hostedEpisode(input.current, input.changes.snapshot_id, snapshot);
    const episode = withProduction(hosted, snapshot.production_id!, production, await podcastOf(input));
    return { attributes: publishedEpisode(episode, input.now.toISOString()) };
  },

  'episode.end_plays': ({ current, changes: { before } }) => {
    const { plays_end_before: known } = current;
    const ends = known !== undefined && Date.parse(known) > Date.parse(before) ? known : before;
    return { attributes: { ...current, plays_end_before: new Date(ends).toISOString() } };
  },

  'episode.publish': async (input) => {
    await requireHostedHere(input);
    await audible(input);
    const { publish_at: planned } = input.current;
    const now = input.now.toISOString();
    // A planned time that has passed is the date, whether the clock, an import or a person publishes.
    return { attributes: publishedEpisode(input.current, planned !== undefined && planned < now ? planned : now) };
  },

  'episode.schedule': async (input) => {
    await requireHostedHere(input);
    const { current, changes, now } = input;
    const at = new Date(changes.publish_at);
    if (at <= now)
      assertNoErrors([
        { path: '/changes/publish_at', code: 'not_future', detail: 'Choose a time to come, or publish at once.' },
      ]);
    await audible(input);
    // The clock compares these texts, so they have one form.
    return { attributes: { ...current, publish_at: at.toISOString() } };
  },

  'episode.publish_due': async (input) => {
    const { current, now } = input;
    if (current.publish_at === undefined || new Date(current.publish_at) > now)
      throw new Problem('state_not_allowed', 'The time of publication has not been reached.');
    await audible(input);
    return { attributes: publishedEpisode(current, current.publish_at) };
  },

  'episode.unpublish': ({ current, changes, now }) => {
    const { publish_at: _at, ...kept } = current;
    return { attributes: withPlaysEnded(kept, changes.mode, now) };
  },
});
