import { z } from 'zod';
import { defineCommand, defineResource } from './definition.ts';
import { instant, longText, reference, shortText, webUrl } from './fields.ts';

const settings = {
  title: shortText,
  description: longText,
  season: z.int().min(1).max(9999),
  number: z.int().min(1).max(99999),
  type: z.enum(['full', 'trailer', 'bonus']),
  explicit: z.boolean(),
  artwork_url: webUrl,
  link: webUrl,
};

/** Episodes: one item of a feed. */
export const episodes = defineResource({
  type: 'episodes',
  noun: 'episode',
  prefix: 'ep',
  attributes: z.strictObject({
    ...z.object(settings).partial().shape,
    title: settings.title,
    type: settings.type,
    podcast_id: reference('pod'),
    /** Never changes, whatever else does. */
    guid: z.string().min(1).max(255),
    /** First publication; stays when the episode is unpublished and published again. */
    published_at: instant.optional(),
    current_production_id: reference('pro').optional(),
    duration_ms: z.int().min(0).optional(),
  }),
  states: ['draft', 'scheduled', 'published', 'unpublished', 'archived'],
  terminalStates: ['archived'],
  links: {
    podcast: { attribute: 'podcast_id', type: 'podcasts' },
    production: { attribute: 'current_production_id', type: 'productions' },
  },
  uniqueAttributes: [],
});

export const episodeCommands = {
  'episode.create': defineCommand({
    type: 'episode.create',
    subject: 'episodes',
    to: 'draft',
    changes: z.strictObject({
      ...z.object(settings).partial().shape,
      podcast_id: reference('pod'),
      title: settings.title,
      guid: z.string().min(1).max(255).optional(),
    }),
    roles: ['owner', 'editor'],
    event: 'episode.created',
    ruled: true,
    summary: 'Creates an episode as a draft.',
  }),
  'episode.revise': defineCommand({
    type: 'episode.revise',
    subject: 'episodes',
    from: ['draft', 'scheduled', 'published', 'unpublished'],
    changes: z.strictObject(z.object(settings).partial().shape),
    roles: ['owner', 'editor'],
    event: 'episode.revised',
    summary: 'Changes fields of an episode; its GUID and enclosure URL never change.',
  }),
  'episode.attach_production': defineCommand({
    type: 'episode.attach_production',
    subject: 'episodes',
    from: ['draft', 'scheduled', 'published', 'unpublished'],
    changes: z.strictObject({ production_id: reference('pro') }),
    roles: ['owner', 'editor'],
    machines: ['management'],
    event: 'episode.production_attached',
    ruled: true,
    problems: ['episode_has_no_audio'],
    summary: 'Makes an encoded production the audio of the episode.',
  }),
  'episode.publish': defineCommand({
    type: 'episode.publish',
    subject: 'episodes',
    from: ['draft', 'scheduled', 'unpublished'],
    to: 'published',
    changes: z.strictObject({}),
    roles: ['owner', 'editor'],
    machines: ['management'],
    event: 'episode.published',
    ruled: true,
    problems: ['episode_has_no_audio'],
    externalEffect: 'The episode appears in the feed.',
    summary: 'Puts the episode into the feed.',
  }),
} as const;
