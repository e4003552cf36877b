import path from 'node:path';
import { readSettings, SettingsError, type StartSettings } from '@longwave/local/settings';
import type { Check } from '../checks/check.ts';

export interface SettingsFinding {
  readonly checks: readonly Check[];
  /** Undefined where something is wrong with them. */
  readonly settings: StartSettings | undefined;
}

/**
 * The settings that `npm start -- --config FILE` would have here: of the file and of variables; with each thing that is wrong.
 * @param config the file, relative to the caller's folder
 * @param portBase wins over that of the file and of variables
 */
export function readStartSettings(config: string, portBase: number | undefined): SettingsFinding {
  const callersFolder = process.env['INIT_CWD'] ?? process.cwd();
  const options = [`--config=${config}`, ...(portBase === undefined ? [] : [`--port-base=${portBase}`])];
  try {
    const settings = readSettings(options, process.env, callersFolder);
    const file = { part: 'settings', name: 'file', well: true, says: path.resolve(callersFolder, config) };
    return { checks: [file], settings };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const checks = error.faults.map((says) => ({ part: 'settings', name: 'fault', well: false, says }));
    return { checks, settings: undefined };
  }
}
