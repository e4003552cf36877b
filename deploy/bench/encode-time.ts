import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';
import { compare, type Round, type Row } from './measure.ts';

/** Encodes by a program; the value is seconds of audio per second, and an item is a second of audio. */
function encode(audioSeconds: number, command: string, args: readonly string[]): Round {
  const started = performance.now();
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  const seconds = (performance.now() - started) / 1000;
  return { value: audioSeconds / seconds, items: audioSeconds, byPrograms: true };
}

/** Seconds of audio encoded per second, against the bare ffmpeg command for the same format without loudness or checks. */
export function encodeTime(audio: string, audioSeconds: number, folder: string): Promise<Row> {
  const output = path.join(folder, 'bench.mp3');
  const bare = [
    '-hide_banner',
    '-nostdin',
    '-y',
    '-loglevel',
    'error',
    '-i',
    audio,
    '-map',
    '0:a:0',
    '-ar',
    '48000',
    '-ac',
    '2',
    '-c:a',
    'libmp3lame',
    '-b:a',
    '128k',
    '-reservoir',
    '0',
    '-write_xing',
    '0',
    '-id3v2_version',
    '0',
    output,
  ];
  return compare(
    {
      name: 'encoding (2 loudness passes, peaks, checks)',
      unit: '× real time',
      baselineName: 'bare ffmpeg to the same MP3',
    },
    3,
    async () =>
      encode(audioSeconds, process.execPath, [
        path.join(workspaceRoot, 'apps/encoder/src/encode-file.ts'),
        audio,
        output,
      ]),
    async () => encode(audioSeconds, 'ffmpeg', bare),
  );
}
