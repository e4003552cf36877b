import { z } from 'zod';
import { appleCategories } from './apple-categories.ts';
import { defineCommand, defineResource } from '../definition.ts';
import { foundProblem, languageTag, leaseReason, longText, reference, sha256, shortText, webUrl } from '../fields.ts';
import { artwork, segment, templatePart } from './media-files.ts';
import { podcastMoveCommands } from './podcast-moves.ts';
import {
  blockedPlatforms,
  chat,
  funding,
  keywords,
  license,
  location,
  medium,
  persons,
  podroll,
  publisher,
  texts,
  trailers,
  updateFrequency,
  value,
} from './podcasting-tags.ts';

/** DNS label, RFC 1035 §2.3.1. */
const subdomain = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'Use small letters, digits and, between them, hyphens: at most 63 characters.',
  );

const settings = {
  title: shortText,
  description: longText,
  /** Beside the description, for apps that show both (itunes:summary). */
  summary: longText,
  subtitle: shortText,
  keywords,
  /** BCP 47, as RSS uses it: "en", "pt-BR". */
  language: languageTag,
  author: shortText,
  owner_name: shortText,
  owner_email: z.email().max(255),
  /** The person responsible for the content (RSS 2.0, managingEditor). */
  managing_editor: shortText,
  artwork_url: webUrl,
  categories: z.array(z.enum(appleCategories)).max(3),
  explicit: z.boolean(),
  type: z.enum(['episodic', 'serial']),
  link: webUrl,
  copyright: shortText,
  locked: z.boolean(),
  /** Integrated loudness of encoded audio; -16 LUFS is usual for stereo podcasts. */
  loudness_target_lufs: z.number().min(-24).max(-12),
  /** Duration of the fades around a break inside the audio that lies in no silence; absent: none. */
  break_fade_ms: z.int().min(0).max(1000),
  /** Whether episodes, intro and outro are made ready for HLS too; absent: no. */
  hls_audio: z.boolean(),
  /** Whether episodes whose source has a picture are made ready for HLS with it; absent: no. It works with and without `hls_audio`. */
  hls_video: z.boolean(),
  /** Whether the feed also names the address by HLS of each episode that has one, while `hls_audio` or `hls_video` is on; absent: no. */
  hls_in_feed: z.boolean(),
  medium,
  funding,
  persons,
  location,
  license,
  texts,
  update_frequency: updateFrequency,
  blocked_platforms: blockedPlatforms,
  podroll,
  publisher,
  value,
  chat,
  trailers,
};

const collaborator = z.strictObject({ email: z.email().max(255), role: z.enum(['editor', 'analyst']) });

/** An import from another host. */
const feedImport = z.strictObject({
  feed_url: webUrl,
  /** The fetched feed: an interrupted import goes on with the same items. */
  storage_key: z.string(),
  sha256,
  total: z.int().min(0),
  done: z.int().min(0),
  failed: z.int().min(0),
  /** Whether its episodes are published, or scheduled, as soon as they have audio. */
  publish: z.boolean().optional(),
  problem: foundProblem.optional(),
});

/** The stream of a hosting platform that a podcast stands for. */
const hostedBy = z.strictObject({ authority_id: reference('agr'), stream_id: z.string().min(4).max(121) });

/** Podcasts. */
export const podcasts = defineResource({
  type: 'podcasts',
  noun: 'podcast',
  prefix: 'pod',
  attributes: z.strictObject({
    ...z.object(settings).partial().shape,
    title: settings.title,
    description: settings.description,
    language: settings.language,
    categories: settings.categories,
    explicit: settings.explicit,
    type: settings.type,
    locked: settings.locked,
    loudness_target_lufs: settings.loudness_target_lufs,
    subdomain,
    /** Podcasting 2.0 guid; follows the show when it moves. */
    podcast_guid: z.uuid(),
    /** The renditions of `artwork_url`. */
    artwork: artwork.optional(),
    intro: templatePart.optional(),
    outro: templatePart.optional(),
    /** One entry for each role of each e-mail address. */
    collaborators: z.array(collaborator).max(100).optional(),
    /** The podcast has moved to this address: its feed redirects there. */
    new_feed_url: webUrl.optional(),
    import: feedImport.optional(),
    /** Another platform hosts the podcast and says by signed messages what serves; it has no feed and no page here. */
    hosted_by: hostedBy.optional(),
  }),
  states: ['draft', 'published', 'unpublished', 'archived'],
  terminalStates: ['archived'],
  links: {},
  uniqueAttributes: ['subdomain'],
});

const living = ['draft', 'published', 'unpublished'] as const;
const templateChanges = z.strictObject({ file_url: webUrl });

const setPart = <const P extends 'intro' | 'outro'>(part: P) =>
  defineCommand({
    type: `podcast.set_${part}`,
    subject: 'podcasts',
    from: living,
    changes: templateChanges,
    roles: ['owner', 'editor'],
    mode: 'async',
    // The preparation of an earlier file ends.
    settles: 'cancelled',
    settlesOf: [`podcast.set_${part}`],
    event: `podcast.${part}_set`,
    hasRule: true,
    problems: ['upload_not_received', 'temporarily_unavailable'],
    externalEffect: 'An encoder prepares the audio once.',
    summary: `Sets the ${part} of the podcast; new encodings include it, and a batch encoding adds it to existing episodes.`,
  });

const clearPart = <const P extends 'intro' | 'outro'>(part: P) =>
  defineCommand({
    type: `podcast.clear_${part}`,
    subject: 'podcasts',
    from: living,
    changes: z.strictObject({}),
    roles: ['owner', 'editor'],
    settles: 'cancelled',
    settlesOf: [`podcast.set_${part}`],
    event: `podcast.${part}_cleared`,
    hasRule: true,
    summary: `Removes the ${part} from the podcast; episodes that have it keep it until a batch encoding.`,
  });

const startPartTrack = <const P extends 'intro' | 'outro'>(part: P) =>
  defineCommand({
    type: `podcast.start_${part}_track`,
    subject: 'podcasts',
    from: living,
    changes: z.strictObject({}),
    machines: ['management'],
    event: `podcast.${part}_track_started`,
    hasRule: true,
    problems: ['temporarily_unavailable', 'upload_not_received'],
    externalEffect: 'An encoder prepares the audio again.',
    summary: `Prepares an ${part} that has no track of HLS again, with one; the present ${part} is used meanwhile.`,
  });

const recordPart = <const P extends 'intro' | 'outro'>(part: P) =>
  defineCommand({
    type: `podcast.record_${part}`,
    subject: 'podcasts',
    from: living,
    changes: z.strictObject({ segment }),
    reason: leaseReason,
    machines: ['encoder'],
    settles: 'succeeded',
    settlesOf: [`podcast.set_${part}`],
    event: `podcast.${part}_recorded`,
    hasRule: true,
    problems: ['lease_lost'],
    summary: `An encoder reports the prepared ${part}.`,
  });

const failPart = <const P extends 'intro' | 'outro'>(part: P) =>
  defineCommand({
    type: `podcast.fail_${part}`,
    subject: 'podcasts',
    from: living,
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['encoder'],
    settles: 'failed',
    settlesOf: [`podcast.set_${part}`],
    event: `podcast.${part}_failed`,
    hasRule: true,
    problems: ['lease_lost'],
    summary: `An encoder reports why it could not prepare the ${part}.`,
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
    hasRule: true,
    problems: ['value_taken', 'artwork_not_acceptable', 'upload_not_received', 'temporarily_unavailable'],
    summary: 'Creates a podcast as a draft; nothing is public yet.',
  }),
  'podcast.host_elsewhere': defineCommand({
    type: 'podcast.host_elsewhere',
    subject: 'podcasts',
    to: 'published',
    changes: z.strictObject({ title: settings.title, language: settings.language, hosted_by: hostedBy }),
    machines: ['management'],
    event: 'podcast.externally_hosted',
    hasRule: true,
    problems: ['value_taken'],
    summary: 'Creates the podcast of a stream of another hosting platform. It has no feed here.',
  }),
  'podcast.revise': defineCommand({
    type: 'podcast.revise',
    subject: 'podcasts',
    from: living,
    changes: z.strictObject(z.object(settings).partial().shape),
    roles: ['owner', 'editor'],
    /** The title of a podcast that another platform hosts follows its show. */
    machines: ['management'],
    event: 'podcast.revised',
    hasRule: true,
    problems: ['podcast_not_ready', 'artwork_not_acceptable', 'upload_not_received', 'temporarily_unavailable'],
    summary: 'Changes fields of a podcast; a published feed shows them at once.',
  }),
  'podcast.publish': defineCommand({
    type: 'podcast.publish',
    subject: 'podcasts',
    from: ['draft', 'unpublished'],
    to: 'published',
    changes: z.strictObject({}),
    roles: ['owner', 'scheduler'],
    event: 'podcast.published',
    hasRule: true,
    problems: ['podcast_not_ready'],
    externalEffect: 'The feed becomes public.',
    summary: 'Makes the feed public; refused while something that directories require is missing or cannot be fetched.',
  }),
  'podcast.unpublish': defineCommand({
    type: 'podcast.unpublish',
    subject: 'podcasts',
    from: ['published'],
    to: 'unpublished',
    changes: z.strictObject({}),
    roles: ['owner', 'scheduler'],
    event: 'podcast.unpublished',
    externalEffect: 'The feed is no longer served.',
    summary: 'Takes the feed offline; episodes and history are kept.',
  }),
  'podcast.archive': defineCommand({
    type: 'podcast.archive',
    subject: 'podcasts',
    from: living,
    to: 'archived',
    changes: z.strictObject({}),
    roles: ['owner'],
    machines: ['management'],
    event: 'podcast.archived',
    externalEffect: 'The feed answers 410 and its audio is no longer available.',
    summary: 'Archives a podcast permanently; its subdomain becomes free.',
  }),
  'podcast.set_intro': setPart('intro'),
  'podcast.set_outro': setPart('outro'),
  'podcast.clear_intro': clearPart('intro'),
  'podcast.clear_outro': clearPart('outro'),
  'podcast.start_intro_track': startPartTrack('intro'),
  'podcast.start_outro_track': startPartTrack('outro'),
  'podcast.record_intro': recordPart('intro'),
  'podcast.record_outro': recordPart('outro'),
  'podcast.fail_intro': failPart('intro'),
  'podcast.fail_outro': failPart('outro'),
  'podcast.invite_collaborator': defineCommand({
    type: 'podcast.invite_collaborator',
    subject: 'podcasts',
    from: living,
    changes: collaborator,
    roles: ['owner', 'manager'],
    event: 'podcast.collaborator_invited',
    hasRule: true,
    externalEffect: 'A mail with the invitation goes to the address; who accepts sees the podcast.',
    summary:
      'Invites the holder of an e-mail address to edit the podcast and see its analytics (editor), or only to see its analytics (analyst); the holder accepts or declines. A collaborator can have both roles: a second invitation adds its role.',
  }),
  'podcast.remove_collaborator': defineCommand({
    type: 'podcast.remove_collaborator',
    subject: 'podcasts',
    from: living,
    /** Without a role: every role. */
    changes: collaborator.partial({ role: true }),
    roles: ['owner', 'manager'],
    event: 'podcast.collaborator_removed',
    hasRule: true,
    summary:
      'Takes one role from a collaborator at once, or every role when none is named; the command also succeeds when there is no such collaborator.',
  }),
  'podcast.redirect_feed': defineCommand({
    type: 'podcast.redirect_feed',
    subject: 'podcasts',
    from: ['published'],
    changes: z.strictObject({ new_feed_url: webUrl }),
    roles: ['owner'],
    event: 'podcast.feed_redirected',
    hasRule: true,
    problems: ['validation_failed'],
    externalEffect: 'The feed answers 301 to its new address.',
    summary:
      'Moves the podcast to another host: apps follow the feed to its new address, which must already have the feed of a podcast. To correct the redirect, send another address; apps may still remember the first.',
  }),
  ...podcastMoveCommands,
} as const;
