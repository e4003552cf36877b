import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { estimateDurationMs } from './estimate-duration.ts';
import type { FoundChapter } from './list-chapters.ts';
import { MediaFault } from './media-fault.ts';
import { checkPicture, maxPixels } from './picture-limits.ts';
import { FfmpegExit, runFfmpeg, untrustedInput } from './run-ffmpeg.ts';
import {
  pictureEntries,
  pictureFields,
  pictureOf,
  videoStreamOf,
  type PictureSource,
  type SourcePicture,
} from './source-picture.ts';
import { inspectStructure, type ByteReader, type SourceStructure } from './source-structure.ts';

/** Facts about a source that need no decoding of all of it. */
export interface SourceInfo {
  /** ffprobe's format name. */
  readonly container: string;
  readonly codec: string;
  /** From the container, or estimated from its packets and size. */
  readonly durationMs: number;
  /** The container's promise, when it makes one that can be checked against the decoded sound. */
  readonly declaredMs?: number;
  /** How far decoded sound may fall short of `declaredMs` without being called truncated. */
  readonly toleranceMs: number;
  readonly sampleRate: number;
  readonly channels: number;
  /** Bits per second; 0 when unknown. */
  readonly bitrate: number;
  /** Absent when it has none that moves. */
  readonly picture?: SourcePicture;
  /** From ID3, MP4, Matroska or Vorbis comments, as found. */
  readonly chapters: readonly FoundChapter[];
}

const codecs = /^(mp3|mp3float|mp2|mp2float|wmav1|wmav2|flac|vorbis|opus|aac|alac|pcm_\w+)$/;
const number = z.coerce.number().catch(0);

const probeSchema = z.object({
  streams: z
    .array(
      z.object({
        codec_type: z.string().optional(),
        codec_name: z.string().default('unknown'),
        sample_rate: number,
        channels: number,
        bit_rate: number,
        start_time: number,
        duration: number,
        tags: z.object({ DURATION: z.string().catch('') }).catch({ DURATION: '' }),
        ...pictureFields,
      }),
    )
    .default([]),
  chapters: z
    .array(
      z.object({
        start_time: number,
        end_time: z.coerce.number().catch(Number.NaN),
        tags: z.object({ title: z.string().catch('') }).catch({ title: '' }),
      }),
    )
    .default([]),
  format: z.object({ format_name: z.string(), start_time: number, duration: number, bit_rate: number }),
});

const truncated = () =>
  new MediaFault(
    'media_truncated',
    'The file is incomplete: it ends before its sound does. Upload the whole file again.',
  );
const notAudio = () =>
  new MediaFault(
    'media_not_audio',
    'This is not an audio file. Upload MP3, M4A, WAV, FLAC, Ogg, Opus, AAC, MP4 or MOV.',
  );

/** Containers whose stated duration is a fact of the header, not an estimate from size or position. */
const statesDuration = /\b(mov|matroska|aiff|caf|w64)\b/;

/** Containers that a streaming writer leaves without any duration. */
const mayOmitDuration = /\b(flac|matroska|wav|aac)\b/;

/** Streams of frames, whose duration ffprobe guesses from the bit rate of the first ones. */
const guessesDuration = /\b(mp3|aac)\b/;

/** Enough to walk hours of sound on a local disk; the rest is extrapolated. */
const maxEstimateMs = 6_000;

type Probe = z.output<typeof probeSchema>;
type Stream = Probe['streams'][number];

/** A source and how ffprobe opens it. */
interface Source {
  /** The URL or file that ffprobe opens, by one of `protocols`. */
  readonly url: string;
  readonly protocols?: string;
  /** The same bytes. */
  readonly reader: ByteReader;
}

const probeEntries = [
  'format=format_name,start_time,duration,bit_rate',
  `stream=codec_type,codec_name,sample_rate,channels,bit_rate,start_time,duration,${pictureEntries.stream}`,
  'stream_tags=DURATION',
  ...pictureEntries.others,
  'chapter=start_time,end_time',
  'chapter_tags=title',
].join(':');

/** Throws `MediaFault` for what ffprobe cannot read as media. */
async function probeSource({ url, protocols }: Omit<Source, 'reader'>, signal: AbortSignal): Promise<Probe> {
  let json = '';
  const output = ['-v', 'error', '-print_format', 'json', '-show_entries', probeEntries];
  try {
    await runFfmpeg('ffprobe', [...output, ...untrustedInput(url, protocols)], {
      signal,
      consume: async (stdout) => void (json = await text(stdout)),
    });
  } catch (error) {
    if (!(error instanceof FfmpegExit) || isUnreachable(error.stderr)) throw error;
    throw notAudio();
  }
  return probeSchema.parse(JSON.parse(json));
}

/** The first sound track. Throws `MediaFault` when it is missing or cannot be decoded. */
function requireSoundTrack({ streams }: Probe): Stream {
  const stream = streams.find((candidate) => candidate.codec_type === 'audio');
  if (!stream) {
    if (streams.length === 0) throw notAudio();
    throw new MediaFault('media_not_audio', 'The file has no sound track. Upload a file with audio.');
  }
  if (!codecs.test(stream.codec_name))
    throw new MediaFault(
      'media_unsupported_codec',
      `The codec "${stream.codec_name}" is not supported. Upload MP3, WAV, FLAC, Vorbis, Opus, AAC, ALAC, MP2 or WMA.`,
    );
  return stream;
}

/** The sound of a film may begin after its picture; what is encoded begins with the sound. */
const soundOffsetSeconds = ({ format }: Probe, stream: Stream) =>
  statesDuration.test(format.format_name) ? Math.max(0, stream.start_time) : 0;

/** How long the sound is, and how long the container promises that it is. Throws `MediaFault` for a source without sound. */
async function measureDuration(
  { url, protocols, reader }: Source,
  structure: SourceStructure,
  probe: Probe,
  stream: Stream,
  signal: AbortSignal,
): Promise<{ readonly durationMs: number; readonly declaredMs: number | undefined }> {
  const { format_name: container, duration: formatSeconds } = probe.format;
  const taggedTrackSeconds = Math.max(0, taggedSeconds(stream.tags.DURATION) - soundOffsetSeconds(probe, stream));
  const trackMs = (stream.duration || taggedTrackSeconds) * 1000;
  // A film may last longer than its sound.
  const wholeMs = probe.streams.length === 1 ? formatSeconds * 1000 : 0;
  const statedMs = statesDuration.test(container) ? trackMs || wholeMs || undefined : undefined;
  const declaredMs = structure.declaredMs ?? statedMs;
  const statedOrGuessedMs = Math.round(trackMs || formatSeconds * 1000 || (declaredMs ?? 0));
  if (statedOrGuessedMs <= 0 && (declaredMs === 0 || !mayOmitDuration.test(container))) throw emptySound();
  const isUncertain = statedOrGuessedMs <= 0 || (declaredMs === undefined && guessesDuration.test(container));
  if (!isUncertain) return { durationMs: statedOrGuessedMs, declaredMs };
  const input = { url, ...(protocols && { protocols }), sizeBytes: reader.sizeBytes };
  return { durationMs: (await estimateDurationMs(input, maxEstimateMs, signal)) || statedOrGuessedMs, declaredMs };
}

/**
 * Inspects a source with ffprobe and by its container's structure.
 * Throws `MediaFault` for a file that cannot become audio, `FfmpegExit` only for a source that could not be read.
 */
export async function inspectSource(source: Source, signal: AbortSignal): Promise<SourceInfo> {
  if (source.reader.sizeBytes === 0) throw new MediaFault('media_empty', 'The file is empty. Upload it again.');
  const structure = await inspectStructure(source.reader);
  if (structure.cut) throw truncated();
  const probe = await probeSource(source, signal);
  const stream = requireSoundTrack(probe);
  const { durationMs, declaredMs } = await measureDuration(source, structure, probe, stream, signal);
  const offsetSeconds = soundOffsetSeconds(probe, stream);
  const picture = pictureOf(probe.streams);
  return {
    container: probe.format.format_name,
    codec: stream.codec_name,
    durationMs,
    ...(declaredMs !== undefined && { declaredMs }),
    toleranceMs: toleranceOf(structure),
    sampleRate: stream.sample_rate,
    channels: stream.channels,
    bitrate: stream.bit_rate || probe.format.bit_rate,
    ...(picture && { picture }),
    chapters: probe.chapters.map(({ start_time, end_time, tags }) => ({
      startSeconds: start_time - offsetSeconds,
      endSeconds: end_time - offsetSeconds,
      title: tags.title,
    })),
  };
}

/**
 * The moving picture of a local file, and how it is opened: sound begins on the clock of ffmpeg, which begins with the first of its streams.
 * Throws `MediaFault` for a file without a sound or a moving picture, and for a picture beyond the limits.
 */
export async function inspectPicture(
  path: string,
  signal: AbortSignal,
): Promise<{ readonly picture: SourcePicture; readonly source: PictureSource }> {
  const probe = await probeSource({ url: `file:${path}` }, signal);
  const sound = requireSoundTrack(probe);
  const stream = videoStreamOf(probe.streams);
  const picture = pictureOf(probe.streams);
  if (!stream || !picture)
    throw new MediaFault(
      'media_without_picture',
      'The file has no moving picture: a cover image is none. Upload a video to get HLS with pictures.',
    );
  checkPicture(picture, { codec: stream.codec_name, width: stream.width, height: stream.height });
  const source = {
    input: ['-max_pixels', String(maxPixels), ...untrustedInput(`file:${path}`)],
    frameRate: picture.frameRate,
    offsetSeconds: Math.max(0, sound.start_time - probe.format.start_time),
  };
  return { picture, source };
}

/** A damaged file whose bytes are all there may lack up to half of its sound; the encoding warns of it. */
function toleranceOf({ declaredMs, whole }: SourceStructure): number {
  if (declaredMs === undefined) return 500;
  return whole ? Math.max(150, declaredMs / 2) : 150;
}

/** Throws when fewer samples came out than the container promised, or none at all. */
export function checkDecodedDuration(source: SourceInfo, decodedMs: number): void {
  if (source.declaredMs !== undefined && decodedMs < source.declaredMs - source.toleranceMs) throw truncated();
  if (decodedMs === 0) throw emptySound();
}

/** The end of a track as Matroska states it, "00:05:00.000000000", in seconds; 0 for any other text. */
function taggedSeconds(tag: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(\d+):(\d+):(\d+\.?\d*)$/.exec(tag) ?? [];
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

function emptySound(): MediaFault {
  return new MediaFault('media_empty', 'The file contains no sound. Upload a file with audio.');
}

/** ffprobe's words for a source it could not fetch, as opposed to one it could not understand. */
const isUnreachable = (stderr: string) =>
  /Server returned|HTTP error|Connection |timed out|Failed to resolve|Network is unreachable|No route to host|Input\/output error|Stream ends prematurely/i.test(
    stderr,
  );
