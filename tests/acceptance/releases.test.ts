import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { git, newest, releases, testOfHistory, textOf, tryGit, versionSchema as version } from './_releases.ts';

const packageSchema = z.object({ version });
const present = packageSchema.parse(JSON.parse(textOf('package.json'))).version;

/** Headings of the changelog: "0.1.0 - 2026-11-21", or "[Unreleased]". */
const headings = [...textOf('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!);

/** Positive when the first version is the later one. */
function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => text.split('.').map(Number));
  return a!.map((part, at) => part - b![at]!).find((difference) => difference !== 0) ?? 0;
}

test('each release has a later version than the one before it, and no earlier date', () => {
  for (const [at, release] of releases.slice(1).entries()) {
    expect(compare(release.version, releases[at]!.version)).toBeGreaterThan(0);
    expect(release.date >= releases[at]!.date).toBe(true);
  }
});

test('the version of the packages is the newest release, or the next one while it is prepared', () => {
  const lock = z
    .object({ version, packages: z.object({ '': packageSchema }) })
    .parse(JSON.parse(textOf('package-lock.json')));
  expect([lock.version, lock.packages[''].version]).toEqual([present, present]);
  expect(compare(present, newest.version)).toBeGreaterThanOrEqual(0);
});

test('the changelog has a section for every release, and above them only what came after the newest', () => {
  const sections = releases.map((release) => `${release.version} - ${release.date}`).reverse();
  const later = headings.slice(0, -sections.length);
  expect(headings.slice(-sections.length)).toEqual(sections);
  if (present === newest.version) expect(['', '[Unreleased]']).toContain(later.join());
  else expect(later).toEqual([expect.stringMatching(new RegExp(`^${present} - \\d{4}-\\d\\d-\\d\\d$`))]);
});

testOfHistory(
  'every release is made of a commit of this history that has its version, after the release before it',
  () => {
    for (const [at, { commit, version: released }] of releases.entries()) {
      const later = releases[at + 1]?.commit ?? 'HEAD';
      expect(tryGit('merge-base', '--is-ancestor', commit, later)).toBe('');
      expect(packageSchema.parse(JSON.parse(git('show', `${commit}:package.json`))).version).toBe(released);
    }
  },
);
