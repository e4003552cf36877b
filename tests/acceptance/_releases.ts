import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from '@jest/globals';
import { readReleases, releaseSchema } from '@longwave/fleet';

const root = path.resolve(import.meta.dirname, '../..');
export const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');
export const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** The output of a git command; undefined when it fails. */
export function tryGit(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return status === 0 ? stdout.trim() : undefined;
}

export const versionSchema = releaseSchema.shape.version;

export const releases = readReleases();
export const newest = releases.at(-1)!;

/** A clone of part of the history, or an archive without one, cannot tell which commits exist. */
const isHistoryWhole = tryGit('rev-parse', '--is-shallow-repository') === 'false';
export const testOfHistory = isHistoryWhole ? test : test.skip;
