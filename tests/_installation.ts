import { execFileSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import { dataFolder, startFleet, temporaryDataFolder, type DataFolder } from '@longwave/fleet';
import { profileOptions } from './_profile.ts';

/** Folder for the files of one run of all tests, made and removed by `_run.mjs`. */
const runFolder = process.env['TEST_RUN_FOLDER']!;

/** An installation in which no service ever ran: its secrets, certificates and a database with every migration. */
async function openInstallation(): Promise<DataFolder> {
  const installation = dataFolder(path.join(runFolder, 'installation'));
  if (existsSync(installation.root)) return installation;
  const unfinished = path.join(runFolder, 'unfinished');
  // Everything of the profile but Kafka, which takes as long to copy as to make.
  const { engines: { kafkaJars: _, ...engines } = {}, ...profile } = profileOptions();
  const fleet = await startFleet({
    ...{ dataFolder: unfinished, ports: 'free', services: [], mode: 'fast' },
    ...{ ...profile, engines },
  });
  await fleet.stop();
  renameSync(unfinished, installation.root);
  return installation;
}

/** The data folder of a new installation: a copy of the one that the run's first test made, in a tenth of the time. */
export async function newInstallation(): Promise<DataFolder> {
  const installation = await openInstallation();
  const data = temporaryDataFolder();
  // A database that PostgreSQL's user could not reach there lies elsewhere and is not copied: such a folder begins empty.
  if (!existsSync(`${installation.postgres}.location`)) execFileSync('cp', ['-a', `${installation.root}/.`, data.root]);
  return data;
}
