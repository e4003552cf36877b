import { createHash } from 'node:crypto';
import { productCatalog, type ChangesInput, type ProductCommand, type Resource } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { addTool, changeTool } from '../tool.ts';
import { episodeId, expectedVersion, podcastId, writeArguments } from './fields.ts';
import { linksOf, objects, show } from './objects.ts';

const { commands } = productCatalog;

const { podcast_id: _podcast, guid: _guid, ...newEpisode } = commands['episode.create'].changes.shape;

export const createEpisode = addTool({
  name: 'create_episode',
  title: 'Create an episode',
  description:
    'Creates an episode as a draft: nothing is public. `description` is the show notes, as text or HTML; `summary` is a short form of them.',
  scopes: ['mcp:episodes.write'],
  deadlineMs: 25_000,
  input: z.strictObject({ podcast_id: podcastId, ...newEpisode, ...writeArguments }),
  output: z.strictObject({ episode: objects.episode }),
  run: async ({ asker, args: { idempotency_key: idempotencyKey, ...changes } }, deps) => {
    const { access } = await deps.management.find(asker, 'podcasts', changes.podcast_id);
    const { resource } = await deps.management.execute(asker, {
      type: 'episode.create',
      workspaceId: access.workspaceId,
      changes,
      idempotencyKey,
    });
    return { output: { episode: await show('episodes', resource, asker, deps) }, links: linksOf([resource]) };
  },
});

/** The key of one command of a call that sends several: management knows a key once. */
const keyOfStep = (key: string | undefined, command: ProductCommand): string | undefined =>
  key && `step-${createHash('sha256').update(`${key}\0${command}`).digest('hex')}`;

const { chapters } = commands['episode.set_chapters'].changes.shape;
const { transcripts } = commands['episode.set_transcripts'].changes.shape;

export const updateEpisode = changeTool({
  name: 'update_episode',
  title: 'Change an episode',
  description:
    'Changes fields of an episode; those of a published one change in the feed at once. `chapters` and `transcripts` replace the whole list, and an empty list removes it.',
  scopes: ['mcp:episodes.write'],
  deadlineMs: 25_000,
  input: z.strictObject({
    episode_id: episodeId,
    expected_version: expectedVersion,
    changes: z.strictObject({
      ...commands['episode.revise'].changes.shape,
      chapters: chapters.optional(),
      transcripts: transcripts.optional(),
    }),
    ...writeArguments,
  }),
  output: z.strictObject({ episode: objects.episode }),
  run: async ({ asker, args }, deps) => {
    const { chapters: newChapters, transcripts: newTranscripts, ...fields } = args.changes;
    let version = args.expected_version;
    let episode: Resource<'episodes'> | undefined;
    /** Each command is one version. A replay answers with the present one, so versions are counted. */
    const send = async <C extends 'episode.revise' | 'episode.set_chapters' | 'episode.set_transcripts'>(
      type: C,
      changes: ChangesInput<C>,
    ) => {
      const { resource } = await deps.management.execute(asker, {
        type,
        subjectId: args.episode_id,
        changes,
        expectedVersion: version,
        idempotencyKey: keyOfStep(args.idempotency_key, type),
      });
      episode = resource;
      version += 1;
    };
    if (Object.keys(fields).length > 0) await send('episode.revise', fields);
    if (newChapters) await send('episode.set_chapters', { chapters: newChapters });
    if (newTranscripts) await send('episode.set_transcripts', { transcripts: newTranscripts });
    if (!episode) throw new Problem('validation_failed', 'Name at least one field in `changes`.');
    return { output: { episode: await show('episodes', episode, asker, deps) }, links: linksOf([episode]) };
  },
});

export const updatePodcast = changeTool({
  name: 'update_podcast',
  title: 'Change a podcast',
  description: 'Changes fields of a podcast; a published feed shows them at once.',
  scopes: ['mcp:episodes.write'],
  deadlineMs: 25_000,
  input: z.strictObject({
    podcast_id: podcastId,
    expected_version: expectedVersion,
    changes: commands['podcast.revise'].changes,
    ...writeArguments,
  }),
  output: z.strictObject({ podcast: objects.podcast }),
  run: async ({ asker, args }, deps) => {
    const { resource } = await deps.management.execute(asker, {
      type: 'podcast.revise',
      subjectId: args.podcast_id,
      changes: args.changes,
      expectedVersion: args.expected_version,
      idempotencyKey: args.idempotency_key,
    });
    return { output: { podcast: await show('podcasts', resource, asker, deps) }, links: linksOf([resource]) };
  },
});
