import { z } from 'zod';
import { country, digest, extension, instant, languageTag, line, webUrl } from '../fields.ts';

/** Longest master file, in bytes: 20 GB. */
const maxMasterBytes = 20_000_000_000;

/** Longest episode, in milliseconds: a day. */
const maxDurationMs = 86_400_000;

const mediaFile = {
  url: webUrl.describe('Where the file is fetched, with https.'),
  digest: digest.describe('SHA-256 of the file.'),
  bytes: z.int().min(1).max(maxMasterBytes).describe('Length of the file.'),
};

const audioMaster = z.strictObject({
  ...mediaFile,
  codec: z.enum(['mp3', 'aac', 'flac', 'wav', 'opus', 'vorbis', 'alac']),
  bitrate: z.int().min(1).max(100_000_000).optional().describe('Bits per second.'),
  channels: z.int().min(1).max(8),
  sample_rate: z.int().min(8_000).max(192_000).describe('Samples per second and channel.'),
});

const videoMaster = z.strictObject({
  ...mediaFile,
  codec: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,31}$/, 'Write a codec such as “h264”.'),
  width: z.int().min(1).max(16_384).describe('Pixels.'),
  height: z.int().min(1).max(16_384).describe('Pixels.'),
});

const caption = z.strictObject({
  lang: languageTag,
  url: webUrl.describe('Where the captions are fetched: WebVTT or SubRip.'),
  digest: digest.describe('SHA-256 of the file.'),
});

const chapter = z.strictObject({
  start_ms: z.int().min(0).max(maxDurationMs).describe('Milliseconds of the master; chapters are in their order.'),
  title: line(255),
  url: webUrl.optional().describe('A page about the chapter.'),
  img: webUrl.optional().describe('Its picture.'),
  toc: z.boolean().optional().describe('false: a silent chapter, which the table of contents does not show.'),
});

/** A place where ads may be heard. */
const marker = z.strictObject({
  key: z
    .string()
    .regex(/^[a-z0-9_-]{1,32}$/, 'Use 1 to 32 small letters, digits, “_” and “-”.')
    .describe('Your name of the place, once per episode.'),
  position_ms: z.int().min(0).max(maxDurationMs).describe('Milliseconds of the master.'),
  kind: z.enum(['pre', 'mid', 'post']),
  max_slots: z.int().min(1).max(8).optional().describe('Ads in a row at most.'),
});

const rights = z.strictObject({
  territories: z
    .array(country)
    .min(1)
    .max(250)
    .optional()
    .describe('Countries where the episode may be delivered; absent: everywhere.'),
  until: instant.optional().describe('Absent: without end.'),
});

const episode = z.strictObject({
  guid: line(255).describe('As in your feed.'),
  title_ref: line(255).describe('The title that reports show.'),
  duration_ms: z.int().min(1).max(maxDurationMs).describe('Milliseconds of the master.'),
  explicit: z.boolean(),
  language: languageTag,
  content_categories: z.array(line(80)).max(20).describe('Recorded, and not used yet.'),
  published_at: instant,
  audio_master: audioMaster.describe('The episode without ads, as you have it.'),
  video_master: videoMaster.optional().describe('Recorded, and not used yet.'),
  captions: z.array(caption).max(20).optional(),
  chapters: z.array(chapter).max(1000).optional(),
  markers: z.array(marker).max(50).optional().describe('Places where ads may be heard; absent or empty: none.'),
  no_ads: z.boolean().optional().describe('true: no ads, whatever the markers are.'),
  rights: rights.optional(),
});

/** An episode as it stands at its host: the whole of it, never a difference. */
export const contentSnapshotBody = z.strictObject({
  episode,
  show: z
    .strictObject({ title: line(255), language: languageTag.optional() })
    .optional()
    .describe('The show of the stream; the newest one counts. Absent: the title of the podcast stays.'),
  x: extension.optional(),
});
export type ContentSnapshot = z.output<typeof contentSnapshotBody>;
