import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet/running';

/** The folder in which a unit of systemd runs. Throws when it names none. */
function folderOfUnit(unit: string): string {
  const line = ['show', '--property=WorkingDirectory', '--value', '--', unit];
  // "!" in front: a folder that may be missing.
  const folder = execFileSync('systemctl', line, { encoding: 'utf8' }).trim().replace(/^!/, '');
  if (!path.isAbsolute(folder)) throw new Error(`The unit ${unit} is not known, or has no WorkingDirectory.`);
  return folder;
}

/** Refuses a unit that runs another folder: after a restart the release before would run, and be taken for this one. */
export function assertUnitRunsHere(unit: string): void {
  const folder = folderOfUnit(unit);
  if (existsSync(folder) && realpathSync(folder) === realpathSync(workspaceRoot)) return;
  throw new Error(
    `The unit ${unit} runs ${folder}, not this folder, ${workspaceRoot}. Set its WorkingDirectory to this folder (systemctl edit ${unit}), ` +
      'type systemctl daemon-reload, and try again. Nothing was changed.',
  );
}
