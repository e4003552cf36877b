import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { reference, sha256, stopMode, webUrl } from '../fields.ts';

/** Audio formats of a clip. */
export const clipFormats = ['mp3', 'm4a', 'aac', 'ogg', 'opus', 'flac', 'wav'] as const;

/** Media clips: encoded files of episodes, and files on other hosts. */
export const mediaClips = defineResource({
  type: 'media_clips',
  noun: 'media_clip',
  prefix: 'clip',
  attributes: z.strictObject({
    episode_id: reference('ep'),
    file_format: z.enum(clipFormats),
    url: webUrl,
    /** Bytes. */
    size: z.int().min(1),
    duration_ms: z.int().min(1),
    hosted: z.enum(['ours', 'outside']),
    /** The production that made the file. */
    production_id: reference('pro').optional(),
  }),
  states: ['active', 'deleted'],
  terminalStates: ['deleted'],
  links: {
    episode: { attribute: 'episode_id', type: 'episodes' },
    production: { attribute: 'production_id', type: 'productions' },
  },
  uniqueAttributes: [],
});

export const mediaClipCommands = {
  'media_clip.register': defineCommand({
    type: 'media_clip.register',
    subject: 'media_clips',
    to: 'active',
    changes: z.strictObject({
      episode_id: reference('ep'),
      file_format: z.enum(clipFormats),
      url: webUrl,
      size: z.int().min(1).optional(),
      duration_ms: z.int().min(1),
    }),
    roles: ['owner', 'producer'],
    event: 'media_clip.registered',
    hasRule: true,
    problems: ['validation_failed', 'upload_not_received', 'media_not_fetchable', 'temporarily_unavailable'],
    externalEffect: 'A file on another host is checked with a HEAD request and a read of a short range.',
    summary: 'Registers a file as audio of an episode: an upload, or a file on another host.',
  }),
  'media_clip.record': defineCommand({
    type: 'media_clip.record',
    subject: 'media_clips',
    to: 'active',
    changes: z.strictObject({
      episode_id: reference('ep'),
      production_id: reference('pro'),
      file_format: z.literal('mp3'),
      sha256,
      size: z.int().min(1),
      duration_ms: z.int().min(1),
    }),
    machines: ['management'],
    event: 'media_clip.recorded',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'Records the file that a production made.',
  }),
  'media_clip.delete': defineCommand({
    type: 'media_clip.delete',
    subject: 'media_clips',
    from: ['active'],
    to: 'deleted',
    changes: z.strictObject({ mode: stopMode.optional() }),
    roles: ['owner', 'producer'],
    machines: ['management'],
    event: 'media_clip.deleted',
    consequences: ['episode.unpublished', 'episode.audio_removed'],
    hasRule: true,
    externalEffect:
      'The enclosure of the episode is no longer available; plays that have begun finish, unless mode is "stop_all".',
    summary:
      'Deletes a clip and removes its audio from the episode: a published or scheduled episode without other audio is unpublished at the same moment, and the answer names it. Plays that have begun finish; with mode "stop_all", all plays of the episode that have begun end within 5 s.',
  }),
} as const;
