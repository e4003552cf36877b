import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const script = path.resolve(import.meta.dirname, '../longwave.ts');
const nowhere = mkdtempSync(path.join(tmpdir(), 'longwave-cli-'));
afterAll(() => rmSync(nowhere, { recursive: true }));

function longwave(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  return { status, stdout, stderr };
}

test('its help names every command with its options', () => {
  const { status, stdout, stderr } = longwave('--help');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const command of [
    'account create [--name NAME] [--email ADDRESS] [--plan PLAN]',
    'account set-subscription --account ACC --state STATE',
    'key block --key CRD',
    'token create --account ACC [--scope read|read_write]',
    'member add --owner ACC --member ACC',
    'review approve --workspace WS --task RVT [--note TEXT]',
    'delivery-key revoke --week WEEK',
    'machine-token create --producer NAME --workspace WS[,WS…]',
    'token-key add',
    'recount export | count | compare',
    'import-log FILE… --report | --store',
    'dead-letters redrive --topic TOPIC --group GROUP',
  ])
    expect(stdout).toContain(command);
});

test('what it does not know it names, with the exit code of a wrong usage', () => {
  expect(longwave('account', 'explode')).toMatchObject({
    status: 64,
    stderr: expect.stringContaining('There is no command "account explode".'),
  });
  expect(longwave('account', 'create', '--colour', 'red')).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("Unknown option '--colour'"),
  });
});

test('without a running fleet it says how to start one', () => {
  for (const command of [
    ['account', 'list'],
    ['dead-letters', 'list'],
  ])
    expect(longwave(...command, '--data', nowhere)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('npm start'),
    });
});

test('a tool gets its own arguments, and its exit code is the answer', () => {
  expect(longwave('recount', 'count', '--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('usage: longwave-recount count FILE…'),
  });
  expect(longwave('import-log', '--help').stdout).toContain('usage: longwave-import-log FILE…');
  expect(longwave('recount', 'count', path.join(nowhere, 'missing.jsonl'))).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('missing.jsonl'),
  });
});
