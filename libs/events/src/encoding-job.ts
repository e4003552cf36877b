import { z } from 'zod';

const stored = {
  storage_key: z.string().min(1),
  /** ETag of the object that was probed; other bytes under the same key are refused. */
  source_etag: z.string().min(1),
  /** Absent when the uploader announced no checksum. */
  declared_sha256: z.string().optional(),
};
const targetLufs = z.number().min(-40).max(-5);
const loudness = { loudness_target_lufs: targetLufs };
const creative = { ...stored, creative_id: z.string() };

const production = {
  ...loudness,
  production_id: z.string(),
  episode_id: z.string(),
  filename: z.string(),
  /** Absent when the uploader announced no size. */
  declared_size_bytes: z.int().min(0).nullish(),
  title: z.string(),
  podcast_title: z.string(),
};

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const ofProduction = {
  production_id: z.string(),
  /** The file that the MP3 was made of, in lower-case hex; any other is refused. Absent: unknown. */
  source_sha256: digest.optional(),
};

const hlsAudio = {
  ...ofProduction,
  /** What brought the MP3 to its loudness. */
  gain: z.strictObject({ gain_db: z.number(), ceiling_db: z.number().max(0).optional() }),
  /** Of the MP3: [start, end) in milliseconds. */
  silences: z.array(z.tuple([z.int().min(0), z.int().min(1)])),
  /** Places known today where ads may be inserted, in the episode's own audio. */
  markers_ms: z.array(z.int().min(0)),
};

/** The stored index of a sound's track: pictures get its cells. */
const cellsOfSound = { sound_index: z.strictObject({ storage_key: z.string().min(1), sha256: digest }) };

const hlsVideo = { ...ofProduction, ...cellsOfSound, track: z.enum(['v360', 'v480', 'v720', 'v1080', 'iframe']) };

const outside = { source_url: z.url({ protocol: /^https?$/ }) };

/** Inputs of the jobs that the encoder claims, by kind: management writes them, the encoder parses them. */
export const encodingJobInputs = {
  encode_production: z.union([
    z.strictObject({ ...production, ...stored }),
    /** A file outside the service. */
    z.strictObject({
      ...production,
      ...outside,
      /** What its host has said of the file; another one is refused. SHA-256 in lower-case hex. */
      declared: z.strictObject({ sha256: digest, size_bytes: z.int().min(1) }).optional(),
    }),
  ]),
  encode_hls_audio: z.union([z.strictObject({ ...hlsAudio, ...stored }), z.strictObject({ ...hlsAudio, ...outside })]),
  /** One size of the picture, or the pictures for seeking. */
  encode_hls_video: z.union([z.strictObject({ ...hlsVideo, ...stored }), z.strictObject({ ...hlsVideo, ...outside })]),
  encode_segment: z.strictObject({ ...loudness, ...stored, podcast_id: z.string(), part: z.enum(['intro', 'outro']) }),
  encode_creative: z.union([
    z.strictObject({
      ...creative,
      loudness_targets_lufs: z.array(targetLufs).min(1).max(12),
      /** A file without a moving picture is refused. */
      needs_picture: z.boolean().optional(),
    }),
    /** Jobs that were waiting when ads got more than one loudness. */
    z.strictObject({ ...creative, ...loudness }).transform(({ loudness_target_lufs: only, ...input }) => ({
      ...input,
      loudness_targets_lufs: [only],
      needs_picture: undefined,
    })),
  ]),
  /** All sizes of the pictures of an ad: its own, or a still one where no file is named. */
  encode_creative_pictures: z.union([
    z.strictObject({ ...creative, ...cellsOfSound }),
    z.strictObject({ creative_id: z.string(), ...cellsOfSound }),
  ]),
  /** Tracks of HLS for streams that were prepared before. */
  encode_creative_tracks: z.strictObject({
    ...creative,
    loudness_targets_lufs: z.array(targetLufs).min(1).max(12),
    streams: z.array(z.strictObject({ sha256: digest, loudness_lufs: z.number().nullable() })).min(1),
  }),
} as const;

export type EncodingJobKind = keyof typeof encodingJobInputs;
export const encodingJobKinds = Object.keys(encodingJobInputs) as readonly EncodingJobKind[];

/** The input of a job as management writes it. */
export type EncodingJobInput<K extends EncodingJobKind> = z.input<(typeof encodingJobInputs)[K]>;
