import type { productCatalog } from '@longwave/command-catalog';
import { findResource, lockResource, type RuleInput, type Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import { prepareArtworkChange, type ArtworkOptions } from '../podcasts/artwork-change.ts';
import { refuseTakenBack } from '../batch-encodings/batch-encoding-table.ts';
import type { Podcast } from '../podcasts/podcast.ts';
import type { Production } from '../productions/production.ts';
import { requireFreeGuid } from './episode-table.ts';
import {
  checkedChapters,
  checkedMarkers,
  checkSoundbites,
  createEpisode,
  publishedEpisode,
  refuseInvalid,
  withProduction,
  type Episode,
} from './episode.ts';
import { requireAudio } from './require-audio.ts';
import { storeTranscripts } from './store-transcripts.ts';

type EpisodeCommand = Extract<keyof Rules<typeof productCatalog>, `episode.${string}`>;
type EpisodeRules = Pick<Rules<typeof productCatalog>, EpisodeCommand>;

/** Throws unless the podcast may still get episodes; that it exists is checked by the pipeline. */
async function requireLivingPodcast(
  { tx, workspaceId }: RuleInput<Episode, unknown>,
  podcastId: string,
): Promise<void> {
  const podcast = await findResource(tx, workspaceId, 'podcasts', podcastId);
  if (podcast?.lifecycle_state === 'archived')
    throw new Problem('state_not_allowed', 'The podcast is archived: it takes no more episodes.');
}

/** An encoded production of the episode, locked: it cannot be deleted or get another source at the same moment. */
async function encodedProduction(
  { tx, workspaceId, subjectId }: RuleInput<Episode, unknown>,
  productionId: string,
): Promise<Production> {
  const production = await lockResource(tx, workspaceId, 'productions', productionId);
  if (production?.lifecycle_state !== 'encoded' || production.attributes['episode_id'] !== subjectId)
    throw new Problem('episode_has_no_audio', 'Attach an encoded production of this episode.');
  return production.attributes as unknown as Production;
}

const podcastOf = async ({ tx, workspaceId, current }: RuleInput<Episode, unknown>): Promise<Podcast> =>
  (await findResource(tx, workspaceId, 'podcasts', current.podcast_id))!.attributes as unknown as Podcast;

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
        return { attributes: withArtwork(createEpisode(changes, subjectId), input.current) };
      };
    },
  },

  'episode.import': async (input) => {
    const { changes, subjectId, tx } = input;
    await requireFreeGuid(tx, changes.podcast_id, changes.guid);
    const { published_at: publishedAt, ...rest } = changes;
    return { attributes: { ...createEpisode(rest, subjectId), published_at: new Date(publishedAt).toISOString() } };
  },

  'episode.revise': {
    prepare: async (prepared) => {
      const withArtwork = await prepareArtworkChange(options, prepared);
      return ({ current, changes }) => {
        checkSoundbites(changes.soundbites, current.duration_ms);
        return { attributes: withArtwork({ ...current, ...changes }, current) };
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
    const { current, changes, actor } = input;
    const production = await encodedProduction(input, changes.production_id);
    // People may choose any; by itself nothing comes of a batch encoding that somebody took back.
    if (actor.kind === 'service') await refuseTakenBack(input, current.podcast_id, production.batch_encoding_id);
    return { attributes: withProduction(current, changes.production_id, production, await podcastOf(input)) };
  },

  'episode.apply_template': async (input) => {
    const { current, changes } = input;
    const { production_id: productionId, batch_encoding_id: batchId } = changes;
    const audio =
      productionId === undefined
        ? current
        : withProduction(current, productionId, await encodedProduction(input, productionId), await podcastOf(input));
    const attributes = { ...audio, batch_encoding_id: batchId };
    for (const part of ['intro', 'outro'] as const) {
      const segment = changes[part];
      if (segment === null) delete attributes[part];
      else if (segment !== undefined) attributes[part] = segment;
    }
    return { attributes };
  },

  'episode.publish': async (input) => {
    await audible(input);
    return { attributes: publishedEpisode(input.current, input.now.toISOString()) };
  },

  'episode.schedule': async (input) => {
    const { current, changes, now } = input;
    const at = new Date(changes.publish_at);
    if (at <= now)
      refuseInvalid([
        { path: '/changes/publish_at', code: 'not_future', detail: 'Choose a time to come, or publish at once.' },
      ]);
    await audible(input);
    // One form for all: the clock compares these texts.
    return { attributes: { ...current, publish_at: at.toISOString() } };
  },

  'episode.publish_due': async (input) => {
    const { current, now } = input;
    if (current.publish_at === undefined || new Date(current.publish_at) > now)
      throw new Problem('state_not_allowed', 'The time of publication has not come.');
    await audible(input);
    return { attributes: publishedEpisode(current, current.publish_at) };
  },

  'episode.unpublish': ({ current }) => {
    const { publish_at: _at, ...kept } = current;
    return { attributes: kept };
  },
});
