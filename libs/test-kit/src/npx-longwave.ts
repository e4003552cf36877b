import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';
import { bareEnvironment } from './bare-environment.ts';

/**
 * Runs `npx longwave` as a person types it in a folder of the checkout. Offline, npx looks for the program nowhere else.
 * @param folder below the root of the checkout
 */
export function npxLongwave(folder: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('npx', ['longwave', ...args], {
    cwd: path.join(workspaceRoot, folder),
    encoding: 'utf8',
    env: { ...bareEnvironment, HOME: process.env['HOME'], npm_config_offline: 'true' },
  });
  return { status, stdout, stderr };
}
