import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { npxLongwave } from '@longwave/test-kit';
import { readAlerts, rulesFile } from '../_promql.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');
const runbooks = globSync('docs/runbooks/*.md', { cwd: root }).filter((file) => !file.endsWith('/README.md'));

test('every alert has a runbook with its name, and every runbook an alert', () => {
  const alerts = readAlerts().map(({ alert, annotations }) => [annotations.runbook, alert]);
  expect(alerts.length).toBeGreaterThan(0);
  const pages = runbooks.map((file) => [file, /^# (\w+)$/m.exec(textOf(file))?.[1]]);
  expect(pages.sort()).toEqual(alerts.sort());
});

test('every runbook says what its alert means, how to look and what to do', () => {
  const incomplete = runbooks.filter((file) => {
    const text = textOf(file);
    return !/^\*\*Means\*\*: /m.test(text) || !/^## Look$[^]*^```sh$/m.test(text) || !/^## Do$/m.test(text);
  });
  expect(incomplete).toEqual([]);
});

test('the commands that runbooks name exist', () => {
  const named = runbooks.flatMap((file) => [...textOf(file).matchAll(/npx longwave ((?:[a-z-]+ ?)+)/g)]);
  const commands = [...new Set(named.map(([, words]) => words!.replace(/ -.*$/, '').trim()))];
  expect(commands.length).toBeGreaterThan(0);
  for (const words of commands)
    expect([words, npxLongwave('.', ...words.split(' '), '--help')]).toEqual([
      words,
      expect.objectContaining({ status: 0, stderr: '' }),
    ]);
});

const promtool = process.env['TEST_PROMTOOL'];
describe('the rules', () => {
  const rules = rulesFile;
  const tests = rules.replace(/\.yaml$/, '.test.yaml');
  if (promtool)
    test('are what Prometheus takes, and alert when they should and no sooner', async () => {
      await run(promtool, ['check', 'rules', '--lint=all', '--lint-fatal', rules], { cwd: root });
      const { stdout } = await run(promtool, ['test', 'rules', tests], { cwd: root });
      expect(stdout).toContain('SUCCESS');
    });
  else if (process.env['REQUIRE_FOREIGN_ENGINES'] === '1')
    test('need promtool: set TEST_PROMTOOL', () => {
      throw new Error('REQUIRE_FOREIGN_ENGINES=1, but TEST_PROMTOOL is not set.');
    });
  else test.skip('are what Prometheus takes: not run, because TEST_PROMTOOL names no promtool', () => {});
});
