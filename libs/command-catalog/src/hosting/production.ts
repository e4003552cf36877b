import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { foundProblem, leaseReason, reference, sha256, stopMode, webUrl } from '../fields.ts';
import { chapters, frameRate, hlsTrack, pictureTrack } from './media-files.ts';

const file = z.strictObject({
  role: z.enum(['source', 'rendition', 'waveform']),
  format: z.string(),
  stream_format: z.string().optional(),
  /** Absent for a source on another host. */
  storage_key: z.string().optional(),
  size_bytes: z.int().min(0),
  sha256,
  bitrate: z.int().min(1).optional(),
  duration_ms: z.int().min(0).optional(),
});

/** Digest and length of a file, as somebody declared them. */
const declaredFile = z.strictObject({ sha256, size_bytes: z.int().min(1) });

const loudness = z.strictObject({
  /** Null for silence, which has no loudness (ITU-R BS.1770 gating). */
  input_lufs: z.number().nullable(),
  output_lufs: z.number().nullable(),
  true_peak_dbtp: z.number().nullable(),
});

/** What brought the sound of the file to its loudness, so that other formats of it sound alike. */
const gain = z.strictObject({
  gain_db: z.number(),
  /** Sample peak that the limiter allowed; absent: no limiter. */
  ceiling_db: z.number().max(0).optional(),
});

/** The moving picture of a source. */
const picture = z.strictObject({
  /** As it is shown: turned as the file says, with square pixels. */
  width: z.int().min(1),
  height: z.int().min(1),
  frame_rate: frameRate,
});

/** "a192" is the sound, AAC at 192 kbit/s; "v…" are the sizes of the picture by their height, "iframe" the pictures for seeking. */
const trackName = z.enum(['a192', 'v360', 'v480', 'v720', 'v1080', 'iframe']);

/** One track of HLS, made on demand beside the MP3. `file` stays while the track is made again. */
const producedTrack = <F extends z.ZodType>(file: F) =>
  z.strictObject({
    state: z.enum(['encoding', 'ready', 'failed']),
    file: file.optional(),
    problem: foundProblem.optional(),
  });

const producedPicture = producedTrack(pictureTrack);

/** Tracks of HLS by name. The pictures have the cells of the sound. */
const tracks = z.strictObject({
  a192: producedTrack(hlsTrack).optional(),
  v360: producedPicture.optional(),
  v480: producedPicture.optional(),
  v720: producedPicture.optional(),
  v1080: producedPicture.optional(),
  iframe: producedPicture.optional(),
});

/** Intervals in which the encoded audio is silent for at least 0.3 s (below −50 dBFS): [start, end), in order and apart; the longest 2,000. */
const silences = z
  .array(z.tuple([z.int().min(0), z.int().min(1)]))
  .max(2000)
  .refine((spans) => spans.every(([start, end], i) => start < end && start > (spans[i - 1]?.[1] ?? -1)), {
    error: 'The spans must be in order and must not touch.',
  });

/** Faults of a file that was encoded nevertheless. */
const warnings = z
  .array(
    z.strictObject({
      code: z.enum(['media_damaged', 'media_cut_off']),
      /** For the podcaster. */
      detail: z.string().min(1).max(500),
      /** Number of damaged places, at least. */
      places: z.int().min(1).optional(),
    }),
  )
  .max(10);

/** Productions: one encoding of one source for one episode. */
export const productions = defineResource({
  type: 'productions',
  noun: 'production',
  prefix: 'pro',
  attributes: z.strictObject({
    episode_id: reference('ep'),
    /** Absent until audio is attached. */
    file_url: webUrl.optional(),
    /** The upload that `file_url` names, when it belongs to this workspace. */
    upload_id: reference('upl').optional(),
    /** Key of the source in the object store; absent for a source on another host. */
    storage_key: z.string().optional(),
    publication_flag: z.boolean(),
    /** For plays of the audio that it replaces; absent means "stop_new". */
    replacement_mode: stopMode.optional(),
    /** Audio of an imported feed: it uses no encoding time of the plan. */
    imported: z.boolean().optional(),
    /** The batch encoding that created it. */
    batch_encoding_id: reference('bat').optional(),
    /** What its host has said of the source: an encoder refuses any other file. */
    declared: declaredFile.optional(),
    files: z.array(file),
    audio_duration_ms: z.int().min(0).optional(),
    loudness: loudness.optional(),
    /** Absent in productions of a release that did not keep it. */
    gain: gain.optional(),
    tracks: tracks.optional(),
    /** Absent when the source has none, and in productions of a release that did not look for one. A cover image is none. */
    picture: picture.optional(),
    /** Chapters found in the file. */
    chapters: chapters.optional(),
    /** Absent in productions of a release that did not detect silences. */
    silences: silences.optional(),
    reserved_encoding_ms: z.int().min(0).optional(),
    /** UTC month whose balance holds the reservation, "2026-11". */
    encoding_month: z.string().optional(),
    problem: foundProblem.optional(),
    /** Absent when nothing was found. */
    warnings: warnings.optional(),
  }),
  states: ['initial', 'encoding', 'encoded', 'error', 'deleted'],
  terminalStates: ['deleted'],
  links: {
    episode: { attribute: 'episode_id', type: 'episodes' },
    upload: { attribute: 'upload_id', type: 'uploads' },
  },
  uniqueAttributes: [],
});

export const productionCommands = {
  'production.create': defineCommand({
    type: 'production.create',
    subject: 'productions',
    to: ['initial', 'encoding'],
    changes: z.strictObject({
      episode_id: reference('ep'),
      /** May be attached later, before the start. */
      file_url: webUrl.optional(),
      publication_flag: z.boolean().optional(),
      /** For plays of the audio that it replaces. */
      mode: stopMode.optional(),
      /** "encoding" starts at once, or nothing is created; absent means "initial". */
      state: z.enum(['initial', 'encoding']).optional(),
    }),
    roles: ['owner', 'producer'],
    event: 'production.created',
    hasRule: true,
    problems: [
      'upload_not_received',
      'media_not_fetchable',
      'validation_failed',
      'production_has_no_audio',
      'encoding_time_exhausted',
      'temporarily_unavailable',
    ],
    externalEffect: 'With state "encoding", encoding time is reserved and an encoder takes the job.',
    summary:
      'Creates a production of an episode, from an uploaded file or one at any https address; the audio may also be attached later.',
  }),
  'production.derive': defineCommand({
    type: 'production.derive',
    subject: 'productions',
    to: 'initial',
    changes: z.strictObject({
      episode_id: reference('ep'),
      file_url: webUrl,
      /** Made for an imported feed, or by a batch encoding. */
      imported: z.boolean().optional(),
      batch_encoding_id: reference('bat').optional(),
      declared: declaredFile.optional(),
      publication_flag: z.boolean().optional(),
    }),
    machines: ['management'],
    event: 'production.derived',
    hasRule: true,
    problems: ['upload_not_received', 'media_not_fetchable', 'validation_failed', 'temporarily_unavailable'],
    summary: 'Creates a production automatically, for an imported episode or a batch encoding.',
  }),
  'production.revise': defineCommand({
    type: 'production.revise',
    subject: 'productions',
    from: ['initial', 'encoding', 'encoded', 'error'],
    to: ['initial', 'encoding', 'encoded', 'error'],
    changes: z.strictObject({
      publication_flag: z.boolean().optional(),
      /** For plays of the audio that it will replace. */
      mode: stopMode.optional(),
      /** Another source; not during encoding. */
      file_url: webUrl.optional(),
      /** "initial" makes a failed production ready for another start. */
      state: z.literal('initial').optional(),
    }),
    roles: ['owner', 'producer'],
    event: 'production.revised',
    hasRule: true,
    problems: [
      'upload_not_received',
      'media_not_fetchable',
      'validation_failed',
      'state_not_allowed',
      'temporarily_unavailable',
    ],
    summary:
      'Changes what happens after encoding, or the source; a new source or state "initial" makes it ready to start.',
  }),
  'production.delete': defineCommand({
    type: 'production.delete',
    subject: 'productions',
    from: ['initial', 'encoding', 'encoded', 'error'],
    to: 'deleted',
    changes: z.strictObject({}),
    roles: ['owner', 'producer'],
    settles: 'cancelled',
    settlesOf: ['production.start'],
    event: 'production.deleted',
    consequences: ['media_clip.deleted'],
    hasRule: true,
    externalEffect: 'An encoder that is processing it stops within 5 s; the reserved encoding time is returned.',
    summary:
      'Deletes a production; one that is being encoded is stopped first. The audio of its episode stays, as a media clip; a clip that the episode does not play is deleted with its production.',
  }),
  'production.start': defineCommand({
    type: 'production.start',
    subject: 'productions',
    from: ['initial'],
    to: 'encoding',
    changes: z.strictObject({ publish_episode: z.boolean().optional() }),
    roles: ['owner', 'producer'],
    machines: ['management'],
    mode: 'async',
    endedBy: 'production.stop',
    event: 'production.started',
    hasRule: true,
    problems: ['encoding_time_exhausted', 'temporarily_unavailable', 'upload_not_received', 'production_has_no_audio'],
    externalEffect: 'Encoding time is reserved and an encoder takes the job.',
    summary: 'Starts encoding; with publish_episode the episode is published afterwards.',
  }),
  'production.stop': defineCommand({
    type: 'production.stop',
    subject: 'productions',
    from: ['encoding'],
    to: 'initial',
    changes: z.strictObject({}),
    roles: ['owner', 'producer'],
    machines: ['management'],
    settles: 'cancelled',
    settlesOf: ['production.start'],
    event: 'production.stopped',
    hasRule: true,
    externalEffect: 'The encoder stops within 5 s and removes its temporary files.',
    summary: 'Stops encoding; the reserved encoding time is returned.',
  }),
  'production.complete': defineCommand({
    type: 'production.complete',
    subject: 'productions',
    from: ['encoding'],
    to: 'encoded',
    changes: z.strictObject({
      files: z.array(file).min(1),
      audio_duration_ms: z.int().min(1),
      loudness,
      gain: gain.optional(),
      picture: picture.optional(),
      chapters: chapters.optional(),
      silences: silences.optional(),
      warnings: warnings.optional(),
    }),
    reason: leaseReason,
    machines: ['encoder'],
    settles: 'succeeded',
    event: 'production.encoded',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports its result; reserved encoding time is settled.',
  }),
  'production.fail': defineCommand({
    type: 'production.fail',
    subject: 'productions',
    from: ['encoding'],
    to: 'error',
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['encoder'],
    settles: 'failed',
    event: 'production.failed',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports why it could not encode; reserved encoding time is returned.',
  }),
  'production.start_track': defineCommand({
    type: 'production.start_track',
    subject: 'productions',
    from: ['encoded'],
    changes: z.strictObject({ track: trackName }),
    machines: ['management'],
    event: 'production.track_started',
    hasRule: true,
    problems: ['temporarily_unavailable', 'upload_not_received'],
    externalEffect: 'An encoder takes the job, behind new episodes. It uses no encoding time of the plan.',
    summary:
      'Starts to make a track of HLS of the source; when the source is not there any more, the track fails at once. A track of pictures needs that of the sound. The MP3 stays as it is.',
  }),
  'production.record_track': defineCommand({
    type: 'production.record_track',
    subject: 'productions',
    from: ['encoded'],
    changes: z
      .strictObject({
        track: trackName,
        file: z.union([hlsTrack, pictureTrack]),
        /** Of the source; with tracks of the picture alone. */
        picture: picture.optional(),
      })
      .refine(
        ({ track, file, picture: found }) => [Boolean(found), 'width' in file].every((is) => is === (track !== 'a192')),
        {
          error: 'Tracks of the picture, and no others, have a size and the picture of the source.',
        },
      ),
    reason: leaseReason,
    machines: ['encoder'],
    event: 'production.track_recorded',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports a track of HLS.',
  }),
  'production.fail_track': defineCommand({
    type: 'production.fail_track',
    subject: 'productions',
    from: ['encoded'],
    changes: z.strictObject({ track: trackName, problem: foundProblem }),
    reason: leaseReason,
    machines: ['encoder'],
    event: 'production.track_failed',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports why it could not make a track of HLS; an earlier one stays.',
  }),
} as const;
