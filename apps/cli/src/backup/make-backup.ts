import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { belongsToSaved, notePlaces, saveStreams, type SavedLine } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import { writePrivately, type FleetAccess } from '@longwave/fleet/running';
import { createObjectStore } from '@longwave/object-store';
import { schemaOwners, services } from '@longwave/services';
import { describeBytes } from '../checks/sizes.ts';
import { copiedFile, copyObjects } from './copy-objects.ts';
import { writeLines } from './digested-file.ts';
import { dumpDatabase } from './dump-database.ts';
import { noteLastBackup } from './last-backup.ts';
import { lockFolder, lockObjects } from './lock-folder.ts';
import { backupName, backupsFolder, busName, manifestName, type BackupFile, type Manifest } from './manifest.ts';
import { removeUnfinished } from './remove-unfinished.ts';
import { saveDataFiles } from './save-data-files.ts';

/** Topics whose messages come from an outbox in the database: the relay sends again what the snapshot does not call sent. */
const outboxTopics: ReadonlySet<string> = new Set([topics.product, topics.identity, topics.exchange]);
/** Facts and decisions that came a little after the snapshot do no harm, and one that came just before it must not be missed. */
const afterSnapshotMs = 10_000;

/** A backup that was made. */
export interface MadeBackup {
  /** Its own folder, absolute. */
  readonly backup: string;
  readonly manifest: Manifest;
  /** Objects that the folder did not have before. */
  readonly copied: number;
}

/**
 * Makes a backup of a running installation into a folder of backups. The database is read as it was at one moment; everything else is read
 * after it, because an object is stored before the row that names it and never changes afterwards (docs/adr/0062-backups.md).
 * @param tell gets a line about what is done now
 */
export async function makeBackup(
  fleet: FleetAccess,
  folder: string,
  version: string,
  tell: (text: string) => void,
): Promise<MadeBackup> {
  using _lock = lockFolder(folder);
  using _objects = lockObjects(fleet.dataFolder);
  removeUnfinished(folder);
  const backup = path.join(backupsFolder(folder), backupName(new Date()));
  mkdirSync(backup, { mode: 0o700 });
  const files: BackupFile[] = [];
  const busLines: SavedLine[] = [];
  const allTopics = Object.values(topics);

  // Before the snapshot: a message that a group has finished by now has its effect in the snapshot.
  const noted = fleet.kafkaBrokers === undefined ? await notePlaces(fleet.redisUrl, allTopics) : undefined;
  const readBus = async (snapshotAt: Date) => {
    if (!noted) return;
    const untilMsOf = (topic: string) =>
      outboxTopics.has(topic) ? noted.atMs : snapshotAt.getTime() + afterSnapshotMs;
    for await (const line of saveStreams(fleet.redisUrl, allTopics, noted, untilMsOf)) busLines.push(line);
  };
  const schemas = schemaOwners(services).map(([, schema]) => schema);
  const {
    snapshotAt,
    database,
    files: tables,
  } = await dumpDatabase(fleet.adminDatabaseUrl, backup, schemas, {
    onSnapshot: readBus,
    onTable: (schema, table) => tell(`database: ${schema}.${table}`),
  });
  files.push(...tables);
  if (noted) {
    async function* texts() {
      for (const line of busLines) yield JSON.stringify(line);
    }
    const { lines: _lines, ...written } = await writeLines(path.join(backup, busName), texts());
    files.push({ path: busName, ...written });
  }
  files.push(...(await saveDataFiles(fleet.dataFolder, backup)));
  const objects = await copyObjects(
    createObjectStore(fleet.objectStore),
    { folder, backup, copied: copiedFile(fleet.dataFolder) },
    belongsToSaved(busLines),
    (count, sizeBytes) => tell(`objects: ${count} copied, ${describeBytes(sizeBytes)}`),
  );
  files.push(objects.file);
  const manifest: Manifest = {
    kind: 'longwave_backup',
    format: 1,
    version,
    snapshot_at: snapshotAt.toISOString(),
    finished_at: new Date().toISOString(),
    database,
    ...(noted && { bus: { messages: busLines.filter(({ kind }) => kind === 'entry').length } }),
    objects: { count: objects.count, size_bytes: objects.sizeBytes },
    files,
  };
  writePrivately(path.join(backup, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
  noteLastBackup(fleet.dataFolder, { folder: backup, snapshot_at: manifest.snapshot_at });
  return { backup, manifest, copied: objects.copied };
}
