import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { isId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { bareEnvironment } from '@longwave/test-kit';
import { explainedFailure, readCommandLine } from '../src/command-line.ts';
import { commands } from '../src/commands.ts';
import { tools } from '../src/tools.ts';
import { usageOf } from '../src/help.ts';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const nowhere = mkdtempSync(path.join(tmpdir(), 'longwave-cli-'));
afterAll(() => rmSync(nowhere, { recursive: true }));

function longwave(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: bareEnvironment,
  });
  return { status, stdout, stderr };
}

test('without a command, or with --help, it lists every command and tool with its options', () => {
  const asked = longwave('--help');
  expect(asked).toMatchObject({ status: 0, stderr: '' });
  for (const command of commands) expect(asked.stdout).toContain(`  ${usageOf(command)}\n      ${command.summary}\n`);
  for (const [name, { usage }] of Object.entries(tools))
    expect(asked.stdout).toContain(`  ${`${name} ${usage}`.trimEnd()}\n`);
  expect(longwave()).toEqual({ status: 2, stdout: '', stderr: asked.stdout });
});

test('account create --help says what it does, each option on a line of its own, and an example', () => {
  expect(longwave('account', 'create', '--help')).toEqual({
    status: 0,
    stderr: '',
    stdout: `usage: npx longwave account create [--name NAME] [--email ADDRESS] [--plan PLAN]

Creates an account with an API key. The key is shown once.

  --name NAME      optional: name of the account (default: the e-mail address, else “New account”)
  --email ADDRESS  optional: e-mail address, which no other account has
  --plan PLAN      optional: launch, grow, scale or network, or a plan of your PLANS_FILE (default: network)
  --data FOLDER    optional: data folder of the running service (default: .longwave)
  --json           optional: print one JSON document, as it does without

Example:
  npx longwave account create --name "My podcasts" --email anna@example.org --plan grow
`,
  });
});

test('what to type is shown in the way that was typed', () => {
  const { stdout } = spawnSync(process.execPath, [script, 'key', '--help'], {
    encoding: 'utf8',
    env: { ...bareEnvironment, npm_lifecycle_event: 'longwave' },
  });
  expect(stdout).toMatch(/^usage: npm run longwave -- key COMMAND\n/);
  expect(longwave('key', '--help').stdout).toMatch(/^usage: npx longwave key COMMAND\n/);
});

/** The arguments that a shell makes of a line with double quotes. */
const shellWords = (line: string) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);

describe.each(commands.map((command) => [command.name, command] as const))('%s', (name, command) => {
  const words = name.split(' ');

  test('its help names every option with value and meaning, says which are optional, and shows the example', () => {
    for (const asking of [
      [...words, '--help'],
      [...words, '-h'],
      ['--help', ...words],
    ]) {
      const line = readCommandLine(asking);
      expect(line.kind).toBe('explain');
      const { text } = line as { text: string };
      expect(text).toContain(command.summary);
      expect(text).toContain(`Example:\n  npx longwave ${command.example}`);
      for (const { name: option, value, meaning, optional } of command.options) {
        const listed = text.split('\n').filter((each) => each.startsWith(`  --${option} ${value} `));
        expect(listed).toHaveLength(1);
        expect(listed[0]!.endsWith(`  ${optional ? 'optional: ' : ''}${meaning}`)).toBe(true);
      }
    }
  });

  test('its example is a command line of it, with IDs of the right form', () => {
    const line = readCommandLine(shellWords(command.example));
    expect(line).toMatchObject({ kind: 'run', command: { name } });
    for (const [id, prefix] of command.example.matchAll(/\b([a-z]{2,4})_[0-9a-z]{20,}/g))
      expect([id, isId(id, prefix)]).toEqual([id, true]);
  });

  test('without an option that it needs it says which one is missing, and what to type', () => {
    for (const { name: option, optional } of command.options) {
      const example = shellWords(command.example);
      const at = example.indexOf(`--${option}`);
      const typed = at < 0 ? example : example.toSpliced(at, 2);
      if (optional) expect(readCommandLine(typed).kind).toBe('run');
      else
        expect(() => readCommandLine(typed)).toThrow(
          `--${option} is missing.\n\nusage: npx longwave ${usageOf(command)}\n`,
        );
    }
  });
});

test('what it does not know it names, with the usage that was meant and the exit code of a wrong usage', () => {
  const refused = (...typed: string[]) => {
    const { status, stdout, stderr } = longwave(...typed);
    expect([status, stdout]).toEqual([2, '']);
    return stderr;
  };
  expect(refused('accounts', 'create')).toMatch(
    /^There is no command “accounts create”\. Did you mean “account”\?\n\n.* --help lists all commands\.\n$/,
  );
  expect(refused('account', 'explode')).toMatch(
    /^There is no command “account explode”\.\n\nusage: .* account COMMAND\n/,
  );
  expect(refused('account')).toContain('“account” needs a command after it.');
  expect(refused('account', 'create', '--colour', 'red')).toMatch(/^Unknown option '--colour'\n\nusage: /);
  expect(refused('account', 'list', '--week', '3')).toContain("Unknown option '--week'");
  expect(refused('account', 'create', 'My', 'podcasts')).toContain('“My podcasts” belongs to no option.');
  expect(refused('account', 'show', '--account')).toContain("'--account <value>' argument missing");
  expect(refused('account', 'show', '--account', '')).toContain('--account is empty.');
});

test('an ID of another kind, or no ID at all, is refused before anything is sent', () => {
  expect(() => readCommandLine(['account', 'show', '--account', 'crd_01jcq7v8z4n2m6k9s3x5t1r0wd'])).toThrow(
    '--account: “crd_01jcq7v8z4n2m6k9s3x5t1r0wd” is not an ID of the form acc_….',
  );
  const workspaces = 'ws_01jcq7v8z4n2m6k9s3x5t1r0wd,harbour';
  expect(() => readCommandLine(['machine-token', 'create', '--producer', 'acme', '--workspace', workspaces])).toThrow(
    '--workspace: “harbour” is not an ID of the form ws_….',
  );
  const authority = 'key_01jcq7v8z4n2m6k9s3x5t1r0wd';
  expect(() =>
    readCommandLine(['client', 'revise', '--client', 'ocl_01jcq7v8z4n2m6k9s3x5t1r0wd', '--authority', authority]),
  ).toThrow(`--authority: “${authority}” is not an ID of the form agr_….`);
});

test('a refusal of a service names the option that it is about', () => {
  const command = commands.find(({ name }) => name === 'account set-subscription')!;
  const errors = [
    { path: '/changes/subscription/state', code: 'invalid', detail: '“subscription.state” must be “trialing”.' },
    { path: '/changes/subscription/trial_ends_at', code: 'invalid', detail: '“subscription.trial_ends_at” is wrong.' },
    { path: '/changes/other', code: 'invalid', detail: '“other” is not known.' },
  ];
  expect(explainedFailure(command, new Problem('validation_failed', 'all of it', { errors })).message).toBe(
    '--state must be “trialing”.\n--trial-ends-at is wrong.\n“other” is not known.',
  );
  expect(explainedFailure(command, new Problem('not_found', 'There is no account acc_1.')).message).toBe(
    'There is no account acc_1.',
  );
});

test('a noun alone with --help lists its commands', () => {
  const { text } = readCommandLine(['key', '--help']) as { text: string };
  expect(text).toContain('key block --key CRD');
  expect(text).not.toContain('account list');
});

test('a misspelt command is answered with the one that was meant', () => {
  expect(longwave('bakup', 'folder')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Did you mean “backup”?'),
  });
  expect(longwave('acount', 'list').stderr).toContain('Did you mean “account”?');
});

test.each(['status', 'logs', 'doctor', 'backup', 'restore'])(
  '%s explains itself, with its exit codes and an example',
  (tool) => {
    expect(longwave(tool, '--help')).toEqual({
      status: 0,
      stderr: '',
      stdout: expect.stringMatching(
        new RegExp(
          `^usage: npx longwave ${tool} [^]*--data [^]*Exit code: [^]*Examples?:\\n +.*npx longwave ${tool}\\b`,
        ),
      ),
    });
    expect(longwave(tool, '--no-such-option')).toMatchObject({ status: 2, stdout: '' });
  },
);

test('an empty list of permissions is a value', () => {
  const membership = 'mbr_01jcq7x5c2v8n4m1k6j9h3g7fd';
  expect(readCommandLine(['member', 'revise', '--membership', membership, '--permissions', ''])).toMatchObject({
    options: { permissions: '' },
  });
});

test('without a running fleet it says how to start one', () => {
  for (const command of [
    ['account', 'list'],
    ['dead-letters', 'list', '--topic', 'product.events', '--group', 'management'],
  ])
    expect(longwave(...command, '--data', nowhere)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/npm start.*--data FOLDER/),
    });
});

test('a tool takes the data folder as every command does, before its name or after it', () => {
  for (const args of [
    ['--data', nowhere, 'import-log', '--help'],
    ['import-log', '--help', `--data=${nowhere}`],
    ['import-log', '--data', nowhere, '--help'],
  ])
    expect(longwave(...args)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('usage: longwave-import-log FILE…'),
    });
  expect(longwave('recount', 'export', '--data')).toMatchObject({ status: 2, stderr: '--data is empty.\n' });
});

test.each(['login', 'whoami', 'logout', 'mcp'])('%s explains itself, and lists the data folder', (tool) => {
  expect(longwave(tool, '--help')).toEqual({
    status: 0,
    stderr: '',
    stdout: expect.stringMatching(new RegExp(`^npx longwave ${tool} .*\\n\\n[^]*^  --data FOLDER +optional: `, 'm')),
  });
});

test('login without an installation on this machine says how to name one', () => {
  expect(longwave('login', '--data', nowhere)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/--url .*--data FOLDER/),
  });
});

test('a tool gets its own arguments, and its exit code is the answer', () => {
  expect(longwave('recount', 'count', '--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('usage: longwave-recount count FILE…'),
  });
  expect(longwave('import-log', '--help').stdout).toContain('usage: longwave-import-log FILE…');
  expect(longwave('recount', 'count', path.join(nowhere, 'missing.jsonl'))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('missing.jsonl'),
  });
});
