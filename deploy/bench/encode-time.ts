import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';
import { ffmpeg } from '@longwave/test-kit';
import { compare, type Round, type Row } from './measure.ts';

/** Encodes by a program; the value is seconds of media per second, and an item is a second of media. */
function encode(mediaSeconds: number, command: string, args: readonly string[]): Round {
  const started = performance.now();
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  const seconds = (performance.now() - started) / 1000;
  return { value: mediaSeconds / seconds, items: mediaSeconds, byPrograms: true };
}

const quiet = ['-hide_banner', '-nostdin', '-y', '-loglevel', 'error'];
const unit = '× real time';
const rounds = 3;

/** Encodes by a program of the encoder. */
const byEncoder = (mediaSeconds: number, program: string, ...args: string[]) =>
  encode(mediaSeconds, process.execPath, [path.join(workspaceRoot, 'apps/encoder/src', program), ...args]);

/** Seconds of audio encoded per second, against the bare ffmpeg command for the same format without loudness or checks. */
export function encodeTime(audio: string, audioSeconds: number, folder: string): Promise<Row> {
  const output = path.join(folder, 'bench.mp3');
  const format = ['-ar', '48000', '-ac', '2', '-c:a', 'libmp3lame', '-b:a', '128k', '-reservoir', '0'];
  const bare = [...quiet, '-i', audio, '-map', '0:a:0', ...format, '-write_xing', '0', '-id3v2_version', '0', output];
  return compare(
    { name: 'encoding (2 loudness passes, peaks, checks)', unit, baselineName: 'bare ffmpeg to the same MP3' },
    rounds,
    async () => byEncoder(audioSeconds, 'encode-file.ts', audio, output),
    async () => encode(audioSeconds, 'ffmpeg', bare),
  );
}

const pictureSeconds = 10;

/** Seconds of media encoded per second as tracks of HLS, against bare ffmpeg, and what an hour of them takes. */
export async function encodeHlsTime(audio: string, audioSeconds: number, folder: string): Promise<Row[]> {
  const inFolder = (name: string) => path.join(folder, name);
  const [sound, bareSound, mp3] = ['a192.mp4', 'bare.aac', 'bare.mp3'].map(inFolder) as [string, string, string];
  const aac = ['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '192k', '-ar', '48000', '-ac', '2', '-f', 'adts'];
  const ofSound = await compare(
    { name: 'encoding, sound for HLS', unit, baselineName: 'bare ffmpeg to the same AAC' },
    rounds,
    async () => byEncoder(audioSeconds, 'encode-track-file.ts', audio, sound, 'a192'),
    async () => encode(audioSeconds, 'ffmpeg', [...quiet, '-i', audio, ...aac, bareSound]),
  );
  const film = inFolder('film.mp4');
  const pictures = `testsrc2=size=1920x1080:rate=30:duration=${pictureSeconds}`;
  const tone = `sine=frequency=440:duration=${pictureSeconds}`;
  ffmpeg('-f', 'lavfi', '-i', pictures, '-f', 'lavfi', '-i', tone, '-preset', 'ultrafast', '-shortest', film);
  const [filmSound, picture, barePicture] = ['film-a192.mp4', 'v720.mp4', 'bare.mp4'].map(inFolder) as [
    string,
    string,
    string,
  ];
  byEncoder(pictureSeconds, 'encode-track-file.ts', film, filmSound, 'a192');
  const h264 = [
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-crf',
    '23',
    '-maxrate',
    '2800k',
    '-bufsize',
    '5600k',
    '-an',
  ];
  const ofPicture = await compare(
    { name: 'encoding, pictures of 720p for HLS', unit, baselineName: 'bare ffmpeg to the same size' },
    rounds,
    async () => byEncoder(pictureSeconds, 'encode-track-file.ts', film, picture, 'v720', `${filmSound}.json`),
    async () => encode(pictureSeconds, 'ffmpeg', [...quiet, '-i', film, '-vf', 'scale=1280:720', ...h264, barePicture]),
  );
  ffmpeg('-i', audio, '-c:a', 'libmp3lame', '-b:a', '128k', mp3);
  const hourOf = (file: string, seconds: number) => (statSync(file).size * 3600) / seconds / 1e6;
  const [ours, baseline] = [hourOf(sound, audioSeconds), hourOf(mp3, audioSeconds)];
  const name = 'storage of an hour of sound for HLS (less is better)';
  return [
    ofSound,
    ofPicture,
    { name, unit: 'MB', ours, baseline, baselineName: 'its MP3 of 128 kbit/s', ratio: ours / baseline },
  ];
}
