import path from 'node:path';
import { dataFolder, defaultDataFolder, findRunningFleet } from '@longwave/fleet/running';

/** The fleet that runs on a folder, by default on that of `npm start`. */
export const fleetOn = (data: string | undefined) =>
  findRunningFleet(dataFolder(data === undefined ? defaultDataFolder : path.resolve(data)));

/** The data folder that was typed before a tool was started, which gets it as `LONGWAVE_DATA`; undefined when none was. */
export const typedDataFolder = (): string | undefined => process.env['LONGWAVE_DATA'];

/** The data folder of a tool, by default that of `npm start`. Absolute. */
export const dataFolderOfTool = (): string => typedDataFolder() ?? defaultDataFolder;
