import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { instant, instantWithOffset, longText, reference, shortText, showNotes, stopMode, webUrl } from '../fields.ts';
import { artwork, chapters, markers, segment, storedTranscripts } from './media-files.ts';
import {
  alternateEnclosures,
  keywords,
  license,
  location,
  persons,
  socialInteract,
  soundbites,
  value,
} from './podcasting-tags.ts';

const settings = {
  title: shortText,
  /** Show notes: text or HTML, which is sanitised. */
  description: showNotes,
  /** A short form of the notes; if present, it is the description in the feed. */
  summary: longText,
  subtitle: shortText,
  author: shortText,
  keywords,
  season: z.int().min(1).max(9999),
  number: z.int().min(1).max(99999),
  type: z.enum(['full', 'trailer', 'bonus']),
  explicit: z.boolean(),
  artwork_url: webUrl,
  link: webUrl,
  persons,
  location,
  license,
  soundbites,
  social_interact: socialInteract,
  value,
  alternate_enclosures: alternateEnclosures,
  /** Directories hide the episode (Apple's itunes:block). */
  blocked: z.boolean(),
};
const guid = z.string().min(1).max(255);

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
    /** Never changes. */
    guid,
    /** Time of the planned publication. */
    publish_at: instant.optional(),
    /** Time of the first publication; a later one does not change it. */
    published_at: instant.optional(),
    /** The production that made its audio; the production itself may have been deleted since. */
    current_production_id: reference('pro').optional(),
    /** Plays that began before this time have ended; set by a command with mode "stop_all". */
    plays_end_before: instant.optional(),
    /** Duration of the content, without intro, outro and ads. */
    duration_ms: z.int().min(0).optional(),
    /** The renditions of `artwork_url`. */
    artwork: artwork.optional(),
    chapters: chapters.optional(),
    /** Whether the chapters are from the file or from an editor; only the former change with a new file. */
    chapters_from: z.enum(['file', 'editor']).optional(),
    transcripts: storedTranscripts.optional(),
    markers: markers.optional(),
    /** The source version that serves, of an episode that another platform hosts. */
    snapshot_id: reference('csn').optional(),
    /** "none": no play has advertising, whatever markers and break plans say. */
    ads: z.enum(['none']).optional(),
    /** The podcast's intro and outro at the time when they were applied to this episode. */
    intro: segment.optional(),
    outro: segment.optional(),
    /** The batch encoding that changed the audio, intro or outro last; absent after a later change. */
    batch_encoding_id: reference('bat').optional(),
  }),
  states: ['draft', 'scheduled', 'published', 'unpublished', 'archived'],
  terminalStates: ['archived'],
  links: {
    podcast: { attribute: 'podcast_id', type: 'podcasts' },
    production: { attribute: 'current_production_id', type: 'productions' },
  },
  uniqueAttributes: [],
  sortKeys: { published_at: { stable: false, at: ['published_at'] } },
});

const living = ['draft', 'scheduled', 'published', 'unpublished'] as const;

export const episodeCommands = {
  'episode.create': defineCommand({
    type: 'episode.create',
    subject: 'episodes',
    to: 'draft',
    changes: z.strictObject({
      ...z.object(settings).partial().shape,
      podcast_id: reference('pod'),
      title: settings.title,
      guid: guid.optional(),
    }),
    roles: ['owner', 'editor'],
    event: 'episode.created',
    hasRule: true,
    problems: ['artwork_not_acceptable', 'upload_not_received', 'temporarily_unavailable'],
    summary: 'Creates an episode as a draft.',
  }),
  'episode.import': defineCommand({
    type: 'episode.import',
    subject: 'episodes',
    to: 'draft',
    changes: z.strictObject({
      ...z.object(settings).partial().shape,
      podcast_id: reference('pod'),
      title: settings.title,
      guid,
      /** Time of publication at the previous host; absent for a future one. */
      published_at: instant.optional(),
      /** A date in the future: the episode is scheduled for it when the import is published. */
      publish_at: instant.optional(),
    }),
    machines: ['management'],
    event: 'episode.imported',
    hasRule: true,
    summary: 'Creates an episode of an imported feed, with its GUID and its date.',
  }),
  'episode.revise': defineCommand({
    type: 'episode.revise',
    subject: 'episodes',
    from: living,
    changes: z.strictObject(z.object(settings).partial().shape),
    roles: ['owner', 'editor'],
    machines: ['management'],
    event: 'episode.revised',
    hasRule: true,
    problems: ['artwork_not_acceptable', 'upload_not_received', 'temporarily_unavailable'],
    summary: 'Changes fields of an episode; its GUID and enclosure URL never change.',
  }),
  'episode.set_chapters': defineCommand({
    type: 'episode.set_chapters',
    subject: 'episodes',
    from: living,
    changes: z.strictObject({ chapters }),
    roles: ['owner', 'editor'],
    machines: ['management'],
    event: 'episode.chapters_set',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Replaces the chapters; an empty list removes them.',
  }),
  'episode.set_transcripts': defineCommand({
    type: 'episode.set_transcripts',
    subject: 'episodes',
    from: living,
    changes: z.strictObject({
      transcripts: z
        .array(
          z.strictObject({
            language: storedTranscripts.element.shape.language,
            captions: z.boolean().optional(),
            format: z.enum(['vtt', 'srt', 'json']),
            /** The document itself, or … */
            content: z.string().min(1).max(1_000_000).optional(),
            /** … an upload that holds it. */
            file_url: webUrl.optional(),
          }),
        )
        .max(20),
    }),
    roles: ['owner', 'editor'],
    machines: ['management'],
    event: 'episode.transcripts_set',
    hasRule: true,
    problems: ['validation_failed', 'upload_not_received', 'temporarily_unavailable'],
    summary: 'Replaces the transcripts, one for each language; an empty list removes them.',
  }),
  'episode.set_markers': defineCommand({
    type: 'episode.set_markers',
    subject: 'episodes',
    from: living,
    changes: z.strictObject({ markers }),
    roles: ['owner', 'editor'],
    machines: ['management'],
    event: 'episode.markers_set',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Replaces the positions where ads may be inserted.',
  }),
  'episode.attach_production': defineCommand({
    type: 'episode.attach_production',
    subject: 'episodes',
    from: living,
    changes: z.strictObject({ production_id: reference('pro'), mode: stopMode.optional() }),
    roles: ['owner', 'editor'],
    machines: ['management'],
    event: 'episode.production_attached',
    hasRule: true,
    problems: ['episode_has_no_audio', 'state_not_allowed'],
    externalEffect: 'With mode "stop_all", plays of the previous audio end within 5 s.',
    summary: 'Makes an encoded production the audio of the episode, with the intro and outro of its podcast.',
  }),
  'episode.apply_template': defineCommand({
    type: 'episode.apply_template',
    subject: 'episodes',
    from: living,
    changes: z.strictObject({
      batch_encoding_id: reference('bat'),
      /** Null removes the part; absent keeps it. */
      intro: segment.nullable().optional(),
      outro: segment.nullable().optional(),
      /** The production whose audio a reverted batch encoding replaced. */
      production_id: reference('pro').optional(),
    }),
    machines: ['management'],
    event: 'episode.template_applied',
    hasRule: true,
    problems: ['episode_has_no_audio'],
    summary:
      'A batch encoding adds the current intro or outro to an episode, or restores what an earlier one replaced.',
  }),
  'episode.publish': defineCommand({
    type: 'episode.publish',
    subject: 'episodes',
    from: ['draft', 'scheduled', 'unpublished'],
    to: 'published',
    changes: z.strictObject({}),
    roles: ['owner', 'scheduler'],
    machines: ['management'],
    event: 'episode.published',
    hasRule: true,
    problems: ['episode_has_no_audio', 'state_not_allowed'],
    externalEffect: 'The episode appears in the feed.',
    summary: 'Puts the episode into the feed.',
  }),
  'episode.host_version': defineCommand({
    type: 'episode.host_version',
    subject: 'episodes',
    from: living,
    to: 'published',
    changes: z.strictObject({ snapshot_id: reference('csn') }),
    machines: ['management'],
    event: 'episode.version_hosted',
    hasRule: true,
    problems: ['episode_has_no_audio', 'state_not_allowed'],
    externalEffect: 'The aliases of the episode serve the version; plays that have begun keep their audio.',
    summary:
      'Serves a version of an episode that another platform hosts: its audio, title, chapters, captions and places for ads.',
  }),
  'episode.end_plays': defineCommand({
    type: 'episode.end_plays',
    subject: 'episodes',
    from: living,
    changes: z.strictObject({ before: instant }),
    machines: ['management'],
    event: 'episode.plays_ended',
    hasRule: true,
    externalEffect: 'Plays that began before that time end within 5 s.',
    summary: 'Ends plays of a source version that its platform has taken back with mode "stop_all".',
  }),
  'episode.schedule': defineCommand({
    type: 'episode.schedule',
    subject: 'episodes',
    from: ['draft', 'scheduled', 'unpublished'],
    to: 'scheduled',
    changes: z.strictObject({ publish_at: instantWithOffset }),
    roles: ['owner', 'scheduler'],
    machines: ['management'],
    event: 'episode.scheduled',
    hasRule: true,
    problems: ['episode_has_no_audio', 'state_not_allowed', 'validation_failed'],
    summary: 'Schedules the publication of the episode; scheduling again changes the time.',
  }),
  'episode.publish_due': defineCommand({
    type: 'episode.publish_due',
    subject: 'episodes',
    from: ['scheduled'],
    to: 'published',
    changes: z.strictObject({}),
    machines: ['management'],
    whileSuspended: 'refused',
    event: 'episode.due_published',
    hasRule: true,
    problems: ['episode_has_no_audio', 'state_not_allowed'],
    externalEffect: 'The episode appears in the feed.',
    summary: 'The clock publishes a scheduled episode.',
  }),
  'episode.unpublish': defineCommand({
    type: 'episode.unpublish',
    subject: 'episodes',
    from: ['published', 'scheduled'],
    to: 'unpublished',
    changes: z.strictObject({ mode: stopMode.optional() }),
    roles: ['owner', 'scheduler'],
    machines: ['management'],
    event: 'episode.unpublished',
    hasRule: true,
    externalEffect: 'The episode is removed from the feed; with mode "stop_all", plays that have begun end within 5 s.',
    summary:
      'Removes the episode from the feed, or cancels its scheduled publication. Plays that have begun finish, unless mode is "stop_all".',
  }),
  'episode.archive': defineCommand({
    type: 'episode.archive',
    subject: 'episodes',
    from: living,
    to: 'archived',
    changes: z.strictObject({}),
    roles: ['owner', 'editor'],
    event: 'episode.archived',
    externalEffect: 'The episode is removed from the feed and its audio is no longer available.',
    summary: 'Archives an episode permanently; its history is kept.',
  }),
} as const;
