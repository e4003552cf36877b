/** `longwave backup`: backups of a running installation. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { didYouMean } from '@longwave/service-kit/nearest';
import { describeBytes } from '../checks/sizes.ts';
import { progressLine } from '../checks/progress-line.ts';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { typed, UsageError } from '../command.ts';
import { dataFolderOfTool, fleetOn } from '../find-fleet.ts';
import { productVersion } from '../product-version.ts';
import { makeBackup } from './make-backup.ts';
import { backupsFolder, chooseBackup, listBackups, manifestName, readManifest } from './manifest.ts';
import { verifyBackup } from './verify-backup.ts';

const usage = `${typed} backup FOLDER [--json] [--data FOLDER]
       ${typed} backup verify FOLDER [--backup NAME] [--json]
       ${typed} backup list FOLDER [--json]

Makes a backup of the running service, without stopping or slowing it: the database as it is at one moment, every object, the messages
on the event bus, facts that are not counted yet, keys and secrets. Objects that the folder has from earlier backups are not copied
again, nor those that an interrupted backup has copied: run it again to go on. \`verify\` reads every byte of a backup and compares it
with the SHA-256 in its manifest; \`${typed} restore\` makes a data folder of it. Whoever can write into the folder can change both: note the
SHA-256 of the manifest elsewhere, and compare it before a restore.

A backup holds every secret of the installation: whoever reads it can do everything. Keep it as safe as the data folder.

  FOLDER         folder for all backups of one installation, on another disk
  --backup NAME  optional: name of a backup, as \`list\` shows it (default: the newest)
  --json         optional: print one JSON document
  --data FOLDER  optional: data folder of the running service (default: .longwave)

Exit code: 0 when the backup is whole, 1 when it is damaged or could not be made, 2 when the command line is wrong.

Examples:
  ${typed} backup /mnt/backups/longwave
  ${typed} backup verify /mnt/backups/longwave`;

/**
 * SHA-256 of a manifest, which names every other digest. Who changes a backup can change this one too: only a copy of it that was noted
 * elsewhere, when the backup was made, proves that nobody changed the backup.
 */
const manifestDigest = (backup: string) =>
  createHash('sha256')
    .update(readFileSync(path.join(backup, manifestName)))
    .digest('hex');

const print = (json: boolean | undefined, document: object, text: string) =>
  console.log(json ? JSON.stringify(document, null, 2) : text);

/** The numbers of a backup, for programs and for people. */
function numbersOf(backup: string) {
  const { snapshot_at, version, database, objects, bus } = readManifest(backup);
  const tables = database.schemas.flatMap((schema) => schema.tables);
  return {
    backup,
    version,
    snapshot_at,
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    objects: objects.count,
    object_bytes: objects.size_bytes,
    bus_messages: bus?.messages,
    manifest_sha256: manifestDigest(backup),
  };
}

async function make(folder: string, json: boolean | undefined): Promise<number> {
  const fleet = fleetOn(dataFolderOfTool());
  if (!fleet)
    throw new Error(
      'No service is running on this data folder. Start it with `npm start`, in another terminal, or name another data folder: --data FOLDER',
    );
  using progress = progressLine(process.stderr);
  const { backup, copied } = await makeBackup(fleet, folder, productVersion(), progress.tell);
  progress.end();
  const found = { ...numbersOf(backup), objects_copied: copied };
  print(
    json,
    found,
    [
      `Made ${backup}, of the service as it was at ${found.snapshot_at}.`,
      '',
      `  database   ${found.rows} rows in ${found.tables} tables`,
      `  objects    ${found.objects}, ${describeBytes(found.object_bytes)}; ${copied} of them are new in this folder`,
      `  messages   ${found.bus_messages ?? 'none: Apache Kafka keeps them'}${found.bus_messages === undefined ? '' : ' on the event bus'}`,
      `  manifest   SHA-256 ${found.manifest_sha256}`,
    ].join('\n'),
  );
  return 0;
}

async function verify(folder: string, name: string | undefined, json: boolean | undefined): Promise<number> {
  const backup = chooseBackup(folder, name);
  using progress = progressLine(process.stderr);
  const { problems } = await verifyBackup(folder, backup, (count) => progress.tell(`objects: ${count}`));
  progress.end();
  const found = numbersOf(backup);
  const whole = problems.length === 0;
  const text = whole
    ? `${backup} is whole: every file and ${found.objects} objects are what the manifest says.\nmanifest SHA-256 ${found.manifest_sha256}`
    : `${backup} is damaged:\n${problems.join('\n')}`;
  print(json, { ...found, whole, problems }, text);
  return whole ? 0 : 1;
}

function list(folder: string, json: boolean | undefined): number {
  if (!existsSync(folder)) throw new Error(`${folder} does not exist.`);
  const found = listBackups(folder).map((name) => ({ name, ...numbersOf(path.join(backupsFolder(folder), name)) }));
  const lines = found.map(
    ({ name, rows, objects, object_bytes: size, version }) =>
      `${name}  ${rows} rows, ${objects} objects (${describeBytes(size)}), version ${version}`,
  );
  print(json, { backups: found }, lines.join('\n') || `${folder} holds no finished backup.`);
  return 0;
}

await runOperations(
  { usage, options: { backup: { type: 'string' }, json: { type: 'boolean' } } },
  async ({ backup, json }, typedWords) => {
    const verbs = ['verify', 'list'];
    const verb = verbs.find((each) => each === typedWords[0]);
    const [folder, ...words] = verb === undefined ? typedWords : typedWords.slice(1);
    if (verb === undefined && words.length === 1)
      throw new UsageError(`There is no “backup ${folder}”.${didYouMean(folder!, verbs)}`);
    assertNoWords(words);
    if (folder === undefined) throw new UsageError('FOLDER is missing: the folder for the backups.');
    if (verb !== 'verify' && backup !== undefined) throw new UsageError('--backup belongs to verify alone.');
    const root = path.resolve(folder);
    if (verb === 'verify') return verify(root, backup, json);
    return verb === 'list' ? list(root, json) : make(root, json);
  },
);
