import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { workspaceRoot } from '@longwave/fleet';

const unit = path.join(workspaceRoot, 'deploy/server/longwave.service');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

(hasSystemd ? test : test.skip)(
  'systemd finds nothing wrong with the unit of one server (needs systemd-analyze)',
  () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  },
);

test('the unit starts the program that npm start starts, and as the page of one server says', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(workspaceRoot, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const text = readFileSync(unit, 'utf8');
  expect(text).toContain(`ExecStart=/usr/bin/env ${scripts.start} --config /etc/longwave/longwave.yaml\n`);
  const page = readFileSync(path.join(workspaceRoot, 'docs/self-hosting.md'), 'utf8');
  const folder = /^WorkingDirectory=(.*)$/m.exec(text)?.[1];
  expect(page).toContain(`git clone REPOSITORY ${folder}\n`);
  expect(page).toContain('cp deploy/server/longwave.service /etc/systemd/system/');
});

test('the page of one server runs every longwave command as the user of the unit, on the data of the settings', () => {
  const user = /^User=(.*)$/m.exec(readFileSync(unit, 'utf8'))![1]!;
  const settings = readFileSync(path.join(workspaceRoot, 'deploy/server/longwave.yaml'), 'utf8');
  const data = /^data: (.*)$/m.exec(settings)![1]!;
  const page = readFileSync(path.join(workspaceRoot, 'docs/self-hosting.md'), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
  const commands = blocks.flatMap((block) => block.split('\n')).filter((line) => line.includes('npx longwave'));
  expect(commands.length).toBeGreaterThan(3);
  for (const command of commands) {
    expect(command).toMatch(new RegExp(`^sudo -u ${user} npx longwave `));
    expect(command).toMatch(new RegExp(` --data ${data}\\b| --config /etc/longwave/longwave\\.yaml\\b`));
  }
});
