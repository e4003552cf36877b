import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ffmpeg } from './ffmpeg.ts';

/** A `moof` with its `mdat`, in seconds and bytes of its file. */
interface HlsCell {
  readonly offset: number;
  readonly length: number;
  readonly seconds: number;
}

/** One file of fMP4 with one track. */
export interface HlsTrack {
  readonly bytes: Buffer;
  readonly initLength: number;
  readonly cells: readonly HlsCell[];
}

const lengthSeconds = 24;
const videoTimescale = 30_000;
const audioTimescale = 48_000;

/** The top level boxes: type, offset, length. */
function* boxesOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at))
    yield { type: bytes.toString('latin1', at + 4, at + 8), offset: at, length: bytes.readUInt32BE(at) };
}

/** Finds the cells of a file that ffmpeg wrote: every fragment begins where its `tfdt` says. */
function readHlsTrack(file: string, timescale: number): HlsTrack {
  const bytes = readFileSync(file);
  const boxes = [...boxesOf(bytes)];
  const fragments = boxes.flatMap(({ type, offset, length }, index) => {
    if (type !== 'moof') return [];
    const begin = Number(bytes.readBigUInt64BE(bytes.indexOf('tfdt', offset) + 8)) / timescale;
    return { offset, length: length + boxes[index + 1]!.length, begin };
  });
  const cells = fragments.map(({ offset, length, begin }, index) => ({
    offset,
    length,
    seconds: (fragments[index + 1]?.begin ?? lengthSeconds) - begin,
  }));
  return { bytes, initLength: fragments[0]!.offset, cells };
}

export type HlsRung = '360p' | '720p' | '1080p';

/** Tracks of one content as ffmpeg encodes them, audio and video apart, in cells of 2 s; I-frames with two pictures a second. */
export interface HlsTracks {
  readonly audio: HlsTrack;
  readonly video?: Readonly<Record<HlsRung | 'iframes', HlsTrack>>;
}

const rungs: Readonly<Record<HlsRung, string>> = { '360p': '640:360', '720p': '1280:720', '1080p': '1920:1080' };
const fragmented = '+empty_moov+default_base_moof';

/** Arguments of ffmpeg for one picture track: a keyframe every so many pictures, two pictures a second. */
const pictureArguments = (size: string, keyframeEvery: number, file: string): readonly string[] => [
  ...['-map', '1:v', '-vf', `scale=${size}:flags=neighbor`, '-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '40'],
  ...['-pix_fmt', 'yuv420p', '-g', String(keyframeEvery), '-keyint_min', '1', '-sc_threshold', '0', '-bf', '0'],
  ...['-video_track_timescale', String(videoTimescale), '-movflags', `+frag_keyframe${fragmented}`, file],
];

/** Encodes 24 s of noise, and for `video` of a moving test picture, into a folder. */
export function makeHlsTracks(folder: string, kind: 'audio' | 'video'): HlsTracks {
  const file = (name: string) => path.join(folder, `${name}.mp4`);
  const noise = `anoisesrc=color=pink:sample_rate=${audioTimescale}:duration=${lengthSeconds}:seed=7`;
  const picture = `testsrc=size=320x180:rate=2:duration=${lengthSeconds}`;
  ffmpeg(
    ...['-f', 'lavfi', '-i', noise, ...(kind === 'video' ? ['-f', 'lavfi', '-i', picture] : [])],
    ...['-map', '0:a', '-ac', '2', '-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '96k'],
    // Whole frames of 1024 samples, cut every 94 frames.
    ...['-frames:a', String((lengthSeconds * audioTimescale) / 1024), '-frag_duration', '2000000'],
    ...['-movflags', fragmented, file('audio')],
    ...(kind === 'video'
      ? [
          ...Object.entries(rungs).flatMap(([name, size]) => pictureArguments(size, 4, file(name))),
          ...pictureArguments(rungs['360p'], 1, file('iframes')),
        ]
      : []),
  );
  const audio = readHlsTrack(file('audio'), audioTimescale);
  if (kind === 'audio') return { audio };
  const read = (name: string) => readHlsTrack(file(name), videoTimescale);
  const video = { '360p': read('360p'), '720p': read('720p'), '1080p': read('1080p'), iframes: read('iframes') };
  return { audio, video };
}
