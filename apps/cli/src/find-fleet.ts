import path from 'node:path';
import { dataFolder, defaultDataFolder, findRunningFleet } from '@longwave/fleet/running';

/** The fleet that runs on a folder, by default on that of `npm start`. */
export const fleetOn = (data: string | undefined) =>
  findRunningFleet(dataFolder(data === undefined ? defaultDataFolder : path.resolve(data)));

/** The data folder of a tool, which gets what was typed as `LONGWAVE_DATA`, by default that of `npm start`. Absolute. */
export const dataFolderOfTool = (): string => process.env['LONGWAVE_DATA'] ?? defaultDataFolder;
