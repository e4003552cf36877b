import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { loadStreams, savedLine } from '@longwave/event-bus';
import { dataFolder, moveDataFolder, removeDataFolder, startFleet } from '@longwave/fleet';
import { createObjectStore } from '@longwave/object-store';
import { readLines } from '../backup/digested-file.ts';
import { busName } from '../backup/manifest.ts';
import { readObjects, verifyFiles } from '../backup/verify-backup.ts';
import { loadDatabase } from './load-database.ts';
import { findMissingObjects } from './named-objects.ts';
import { putObjects } from './put-objects.ts';
import { recountFacts } from './recount-facts.ts';
import { restoreDataFiles } from './restore-data-files.ts';
import { verifyChains } from './verify-chains.ts';

/** What was restored and how it was verified. */
export interface Restored {
  readonly data_folder: string;
  readonly snapshot_at: string;
  readonly tables: number;
  readonly rows: number;
  readonly objects: number;
  readonly bus_messages: number;
  /** Places in which rows name objects, all of them there with their bytes. */
  readonly named_objects: number;
  readonly receipt_chains: number;
  readonly receipts: number;
  readonly recounted_numbers: number;
  /** Sentences; none when everything agrees. */
  readonly problems: readonly string[];
}

/** Refuses a folder that holds anything. */
function assertEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty. A restore makes a new data folder: name one that does not exist yet.`);
}

async function* savedLines(backup: string) {
  for await (const line of readLines(path.join(backup, busName))) yield savedLine.parse(JSON.parse(line));
}

/**
 * Makes a data folder of a backup. It is built beside the target and takes its name only when everything is in it, so an interrupted
 * restore leaves no data folder that could be started. Then it is verified: objects that rows name, chains of receipts, a recount.
 * @param options.target absolute; must not hold anything
 * @param options.tell gets a line about what is done now
 */
export async function restoreBackup(options: {
  readonly folder: string;
  readonly backup: string;
  readonly target: string;
  readonly tell: (text: string) => void;
}): Promise<Restored> {
  const { folder, backup, target, tell } = options;
  assertEmpty(target);
  const { manifest, problems: damaged } = await verifyFiles(backup);
  if (damaged.length > 0) throw new Error(`The backup is damaged, and nothing was restored:\n${damaged.join('\n')}`);
  const building = dataFolder(`${target}.restoring`);
  removeDataFolder(building);
  await restoreDataFiles(backup, manifest.files, building.root);
  const restored = await (async () => {
    // Engines alone: they make the database with its schemas, and the object store.
    await using fleet = await startFleet({
      dataFolder: building.root,
      ports: 'free',
      services: [],
      onProgress: (part) => tell(`start: ${part}`),
    });
    const url = fleet.adminDatabaseUrl;
    await loadDatabase(url, backup, manifest, (schema, table) => tell(`database: ${schema}.${table}`));
    const store = createObjectStore(fleet.objectStore);
    await store.ensureBucket();
    await putObjects(store, folder, readObjects(backup), (count) =>
      tell(`objects: ${count} of ${manifest.objects.count}`),
    );
    const messages = manifest.bus ? await loadStreams(fleet.redisUrl, savedLines(backup)) : 0;
    tell('verifying: objects that rows name');
    const digests = new Map<string, string>();
    for await (const { key, sha256 } of readObjects(backup)) digests.set(key, sha256);
    const objects = await findMissingObjects(url, digests);
    tell('verifying: chains of receipts');
    const chains = await verifyChains(url);
    tell('verifying: a recount of all facts');
    const counted = recountFacts(fleet.databaseUrls['audience']!, building.root);
    const tables = manifest.database.schemas.flatMap((schema) => schema.tables);
    return {
      data_folder: target,
      snapshot_at: manifest.snapshot_at,
      tables: tables.length,
      rows: tables.reduce((sum, { rows }) => sum + rows, 0),
      objects: digests.size,
      bus_messages: messages,
      named_objects: objects.named,
      receipt_chains: chains.chains,
      receipts: chains.receipts,
      recounted_numbers: counted.numbers,
      problems: [
        ...objects.problems,
        ...chains.problems,
        ...(counted.differing === 0
          ? []
          : [`${counted.differing} of ${counted.numbers} numbers differ from a recount.`]),
      ],
    };
  })();
  moveDataFolder(building, target);
  return restored;
}
