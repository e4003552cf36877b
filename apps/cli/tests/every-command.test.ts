import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { bareEnvironment } from '@longwave/test-kit';
import { readCommandLine } from '../src/command-line.ts';
import { commands } from '../src/commands.ts';
import { manageCommands } from '../src/manage/commands.ts';
import { helpOfManage } from '../src/manage/help.ts';
import { readWords } from '../src/manage/words.ts';
import { tools } from '../src/tools.ts';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const nowhere = mkdtempSync(path.join(tmpdir(), 'longwave-every-'));
afterAll(() => rmSync(nowhere, { recursive: true }));

/** Runs `longwave` without colours; two at a time, because most of each is waiting for modules. */
async function longwave(...args: readonly string[]) {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...bareEnvironment, NO_COLOR: '1', LONGWAVE_DATA: nowhere, XDG_CONFIG_HOME: nowhere, HOME: nowhere },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  expect([args, `${texts.stdout}${texts.stderr}`.includes(String.fromCharCode(27))]).toEqual([args, false]);
  return { status, ...texts };
}

/** The first words of each tool that has commands, so that options are read. */
const subcommands: Readonly<Record<string, readonly string[]>> = {
  manage: ['list'],
  exchange: ['snapshot'],
  receipts: [],
  recount: ['count'],
};

test.each(Object.keys(tools))(
  '%s: help on standard output with an example or its commands, and a misspelt option is answered by the right one',
  async (tool) => {
    const words = [tool, ...(subcommands[tool] ?? [])];
    const [help, wrong] = await Promise.all([longwave(...words, '--help'), longwave(...words, '--helpp')]);
    expect(help).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('longwave') });
    expect(wrong).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/Unknown option '--helpp'\.? Did you mean --help\?/),
    });
  },
);

test('every command of an operator takes --json, answers an unknown option with the right one, and has the exit code of a wrong usage', () => {
  for (const { name, example, options } of commands) {
    const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
    expect([name, readCommandLine([...words, '--json'])]).toMatchObject([name, { kind: 'run', json: true }]);
    for (const { name: option } of [...options, { name: 'json' }, { name: 'data' }, { name: 'help' }])
      expect(() => readCommandLine([...words, `--${option}x`])).toThrow(/Unknown option '--\w.*\. Did you mean --/);
  }
});

test('every command of “manage” has an example, and takes --json where it prints a result', () => {
  for (const command of manageCommands) {
    expect(helpOfManage(command)).toContain(`Example:\n  npx longwave manage ${command.example}`);
    expect(command.example.split(' ')[0]).toBe(command.name);
  }
  expect(readWords(['--json'], [], {}).values.json).toBe(true);
});

test('a misspelt command is answered by the right one, of every kind', async () => {
  const found = await Promise.all(
    [['statsu'], ['account', 'creat'], ['manage', 'listt'], ['exchange', 'snapshto'], ['recount', 'countt']].map(
      (words) => longwave(...words),
    ),
  );
  expect(
    found.map(({ status, stdout, stderr }) => [status, stdout, /Did you mean “(.*?)”\?/.exec(stderr)?.[1]]),
  ).toEqual(['status', 'account create', 'list', 'snapshot', 'count'].map((meant) => [2, '', meant]));
});

test('with --json, results that people read as text are one JSON document', async () => {
  const [doctor, logout, backups] = await Promise.all([
    longwave('doctor', '--json'),
    longwave('logout', '--json'),
    longwave('backup', 'list', nowhere, '--json'),
  ]);
  expect(JSON.parse(doctor.stdout)).toMatchObject({ checks: expect.any(Array) });
  expect(JSON.parse(logout.stdout)).toEqual([]);
  expect(JSON.parse(backups.stdout)).toEqual({ backups: [] });
});
