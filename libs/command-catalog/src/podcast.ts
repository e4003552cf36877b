import { z } from 'zod';
import { appleCategories } from './apple-categories.ts';
import { defineCommand, defineResource } from './definition.ts';
import { longText, shortText, webUrl } from './fields.ts';

/** DNS label, RFC 1035 §2.3.1. */
const subdomain = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'expected a DNS label: a-z, 0-9 and "-"');

const settings = {
  title: shortText,
  description: longText,
  /** BCP 47, as RSS uses it: "en", "pt-BR". */
  language: z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'expected a language tag such as "en" or "pt-BR"'),
  author: shortText,
  owner_name: shortText,
  artwork_url: webUrl,
  categories: z.array(z.enum(appleCategories)).max(3),
  explicit: z.boolean(),
  type: z.enum(['episodic', 'serial']),
  link: webUrl,
  copyright: shortText,
  locked: z.boolean(),
  /** Integrated loudness of encoded audio; -16 stereo is the field's practice (delivery.md, encoding norms). */
  loudness_target_lufs: z.number().min(-24).max(-12),
};

/** Podcasts: the show. */
export const podcasts = defineResource({
  type: 'podcasts',
  noun: 'podcast',
  prefix: 'pod',
  attributes: z.strictObject({
    ...settings,
    subdomain,
    /** Podcasting 2.0 guid; follows the show when it moves. */
    podcast_guid: z.uuid(),
    owner_name: settings.owner_name.optional(),
    artwork_url: settings.artwork_url.optional(),
    link: settings.link.optional(),
    copyright: settings.copyright.optional(),
    author: settings.author.optional(),
  }),
  states: ['draft', 'published', 'unpublished', 'archived'],
  terminalStates: ['archived'],
  links: {},
  uniqueAttributes: ['subdomain'],
});

export const podcastCommands = {
  'podcast.create': defineCommand({
    type: 'podcast.create',
    subject: 'podcasts',
    to: 'draft',
    changes: z.strictObject({
      ...z.object(settings).partial().shape,
      title: settings.title,
      language: settings.language,
      subdomain: subdomain.optional(),
    }),
    roles: ['owner'],
    event: 'podcast.created',
    ruled: true,
    problems: ['value_taken'],
    summary: 'Creates a podcast as a draft; nothing is public yet.',
  }),
  'podcast.revise': defineCommand({
    type: 'podcast.revise',
    subject: 'podcasts',
    from: ['draft', 'published', 'unpublished'],
    changes: z.strictObject(z.object(settings).partial().shape),
    roles: ['owner', 'editor'],
    event: 'podcast.revised',
    ruled: true,
    problems: ['podcast_not_ready'],
    summary: 'Changes fields of a podcast; a published feed shows them at once.',
  }),
  'podcast.publish': defineCommand({
    type: 'podcast.publish',
    subject: 'podcasts',
    from: ['draft', 'unpublished'],
    to: 'published',
    changes: z.strictObject({}),
    roles: ['owner'],
    event: 'podcast.published',
    ruled: true,
    problems: ['podcast_not_ready'],
    externalEffect: 'The feed becomes public.',
    summary: 'Makes the feed public; refused while a field that directories demand is missing.',
  }),
} as const;
