import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { workspaceRoot } from '@longwave/fleet';

const folder = path.join(workspaceRoot, 'deploy/server');
const unit = path.join(folder, 'longwave.service');
const units = readdirSync(folder).filter((name) => /\.(service|timer)$/.test(name));
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

(hasSystemd ? test : test.skip)(
  'systemd finds nothing wrong with the units of one server (needs systemd-analyze)',
  () => {
    const line = ['verify', '--man=no', ...units.map((name) => path.join(folder, name))];
    const { status, stderr } = spawnSync('systemd-analyze', line, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  },
);

test('the units of timers run the commands of the page of one server, which says how they are installed', () => {
  const page = readFileSync(path.join(workspaceRoot, 'docs/self-hosting.md'), 'utf8');
  const timers = units.filter((name) => name.endsWith('.timer')).map((name) => name.replace('.timer', ''));
  for (const kind of ['service', 'timer']) {
    const files = timers.map((name) => `deploy/server/${name}.${kind}`);
    expect(page).toContain(`cp ${files.join(' ')} /etc/systemd/system/\n`);
  }
  expect(page).toContain(`systemctl enable --now ${timers.map((name) => `${name}.timer`).join(' ')}\n`);
  const commands = timers.map((name) => {
    const text = readFileSync(path.join(folder, `${name}.service`), 'utf8');
    return /^ExecStart=\/usr\/bin\/env node deploy\/local\/launch\.mjs longwave (.*)$/m.exec(text)?.[1];
  });
  for (const command of commands) expect(page).toContain(`sudo -u longwave npx longwave ${command}\n`);
});

test('the unit starts the program that npm start starts, and as the page of one server says', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(workspaceRoot, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const text = readFileSync(unit, 'utf8');
  expect(text).toContain(`ExecStart=/usr/bin/env ${scripts.start} --config /etc/longwave/longwave.yaml\n`);
  const page = readFileSync(path.join(workspaceRoot, 'docs/self-hosting.md'), 'utf8');
  const workingDirectory = /^WorkingDirectory=(.*)$/m.exec(text)?.[1];
  expect(page).toContain(`git clone REPOSITORY ${workingDirectory}\n`);
  expect(page).toContain('cp deploy/server/longwave.service /etc/systemd/system/');
});

test('the page of one server runs every longwave command as the user of the unit, on the data of the settings', () => {
  const user = /^User=(.*)$/m.exec(readFileSync(unit, 'utf8'))![1]!;
  const settings = readFileSync(path.join(workspaceRoot, 'deploy/server/longwave.yaml'), 'utf8');
  const data = /^data: (.*)$/m.exec(settings)![1]!;
  const page = readFileSync(path.join(workspaceRoot, 'docs/self-hosting.md'), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
  const commands = blocks.flatMap((block) => block.split('\n')).filter((line) => /(npx|run) longwave/.test(line));
  expect(commands.length).toBeGreaterThan(3);
  for (const command of commands) {
    expect(command).toMatch(new RegExp(`^sudo -u ${user} (npx longwave|npm run longwave --) `));
    expect(command).toMatch(new RegExp(` --data ${data}\\b| --config /etc/longwave/longwave\\.yaml\\b`));
  }
});
