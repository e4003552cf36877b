import { z } from 'zod';
import { foundProblem, languageTag, reference, sha256, webUrl } from '../fields.ts';

/** One track of HLS in the object store: a CMAF file with one fragment per cell, and the index of its cells (docs/hls.md). */
export const hlsTrack = z.strictObject({
  /** As `CODECS` of a playlist names it. */
  codec: z.string().min(1),
  storage_key: z.string(),
  sha256,
  size_bytes: z.int().min(1),
  duration_ms: z.int().min(1),
  index: z.strictObject({ storage_key: z.string(), sha256, size_bytes: z.int().min(1) }),
});

/** Pictures per second as a fraction, so that 30000/1001 is exact. */
export const frameRate = z.strictObject({ frames: z.int().min(1), seconds: z.int().min(1) });

/** One size of the picture as a track of HLS. The pictures for seeking ("iframe") are two a second. */
export const pictureTrack = z.strictObject({
  ...hlsTrack.shape,
  width: z.int().min(1),
  height: z.int().min(1),
  frame_rate: frameRate,
});

/** A segment in the object store: canonical audio without tags, which can be joined at both ends. */
export const segment = z.strictObject({
  stream_format: z.string(),
  storage_key: z.string(),
  sha256,
  size_bytes: z.int().min(1),
  duration_ms: z.int().min(1),
  /** The same sound for HLS; absent in segments of a release that made none. */
  hls: hlsTrack.optional(),
});

/**
 * Audio before or after every episode. `segment` stays the previous one while a new file is prepared, and the state stays "ready" while
 * only a track of HLS is missing; `problem` says then why it is missing.
 */
export const templatePart = z.strictObject({
  file_url: webUrl,
  upload_id: reference('upl'),
  state: z.enum(['encoding', 'ready', 'failed']),
  segment: segment.optional(),
  problem: foundProblem.optional(),
});

/** Served artwork: square images in the sizes of directories and web pages. */
export const artwork = z.strictObject({
  renditions: z
    .array(
      z.strictObject({
        /** Pixels of a side. */
        size: z.int().min(1),
        content_type: z.enum(['image/jpeg', 'image/png', 'image/webp']),
        storage_key: z.string(),
        sha256,
        size_bytes: z.int().min(1),
      }),
    )
    .min(1)
    .max(8),
});

/** One chapter; the end is the next one's start. */
export const chapters = z
  .array(
    z.strictObject({
      start_ms: z.int().min(0),
      title: z.string().trim().min(1).max(255),
      end_ms: z.int().min(1).optional(),
      url: webUrl.optional(),
      image_url: webUrl.optional(),
      /** False: it is not listed (Podcasting 2.0 chapters, toc). */
      toc: z.boolean().optional(),
    }),
  )
  .max(1000);

/** A transcript whose cues are a stored document (libs/transcript), rendered as VTT, SRT and JSON. */
export const storedTranscripts = z
  .array(
    z.strictObject({
      language: languageTag,
      /** The cues carry timing good enough to be shown as captions. */
      captions: z.boolean(),
      storage_key: z.string(),
      sha256,
      size_bytes: z.int().min(2),
      cue_count: z.int().min(1),
    }),
  )
  .max(20);

/** Places for ads. */
export const markers = z
  .array(
    z.strictObject({
      key: z.string().regex(/^[a-z0-9_-]{1,32}$/, 'expected 1 to 32 of a-z, 0-9, "_", "-"'),
      kind: z.enum(['pre', 'mid', 'post']),
      /** Position in the episode's own audio; 0 for pre, its length or more for post. */
      position_ms: z.int().min(0),
      max_slots: z.int().min(1).max(8),
    }),
  )
  .max(50);
