import { spawn } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet/running';
import { fleetOn } from './find-fleet.ts';
import type { ToolLine } from './tool-line.ts';

/** Runs a tool on the database of DATABASE_URL and the installation of LONGWAVE_URL, by default the running fleet; answers its exit code. */
export function runTool({ script, args, data }: ToolLine): Promise<number> {
  const fleet = fleetOn(data);
  const databaseUrl = process.env['DATABASE_URL'] ?? fleet?.databaseUrls['audience'];
  const child = spawn(process.execPath, [path.join(workspaceRoot, script), ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...(fleet && { LONGWAVE_URL: process.env['LONGWAVE_URL'] ?? fleet.urls.base }),
      ...(data !== undefined && { LONGWAVE_DATA: path.resolve(data) }),
    },
  });
  // Ctrl-C reaches the tool by itself; it then removes its temporary files.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
