import { execFile } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';

const script = path.join(workspaceRoot, 'apps/cli/src/main.ts');

/** Runs a command of the operator, while this process goes on. */
export function longwave(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}
