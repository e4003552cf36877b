import path from 'node:path';
import { dataFolder, defaultDataFolder, findRunningFleet } from '@longwave/fleet/running';

/** The data folder that `LONGWAVE_DATA` names, as for `npm start`; a tool gets there what was typed before it was started. Absolute; undefined when none is named. */
export function typedDataFolder(): string | undefined {
  const named = process.env['LONGWAVE_DATA'];
  return named ? path.resolve(named) : undefined;
}

/** The data folder of a tool, by default that of `npm start`. Absolute. */
export const dataFolderOfTool = (): string => typedDataFolder() ?? defaultDataFolder;

/** The fleet that runs on a folder, by default on that of `LONGWAVE_DATA`, else of `npm start`. */
export const fleetOn = (data: string | undefined) =>
  findRunningFleet(dataFolder(data === undefined ? dataFolderOfTool() : path.resolve(data)));
