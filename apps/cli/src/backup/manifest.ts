import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A path inside a backup, which leads nowhere else. */
const innerPath = z
  .string()
  .refine((name) => !/[\\\0]/.test(name) && name.split('/').every((step) => !['', '.', '..'].includes(step)));

const tableSchema = z.strictObject({
  name: z.string(),
  columns: z.array(z.string()),
  rows: z.int().min(0),
  /** Path of its rows in the backup: gzipped COPY text. */
  file: innerPath,
});
export type TableDump = z.output<typeof tableSchema>;

const schemaDump = z.strictObject({
  name: z.string(),
  /** Names and SHA-256 of the migrations that made it, oldest first. */
  migrations: z.array(z.strictObject({ name: z.string(), checksum: sha256 })),
  tables: z.array(tableSchema),
  sequences: z.array(z.strictObject({ name: z.string(), last: z.string(), is_called: z.boolean() })),
});
export type SchemaDump = z.output<typeof schemaDump>;

/** What a backup is and holds. */
const manifestSchema = z.strictObject({
  kind: z.literal('longwave_backup'),
  format: z.literal(1),
  /** Version of the program that made it. */
  version: z.string(),
  /** The moment of the database's snapshot: everything in the backup is as it was then. */
  snapshot_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  database: z.strictObject({ version: z.string(), schemas: z.array(schemaDump) }),
  /** Messages on the event bus; absent when Apache Kafka is the bus. */
  bus: z.strictObject({ messages: z.int().min(0) }).optional(),
  objects: z.strictObject({ count: z.int().min(0), size_bytes: z.int().min(0) }),
  /** Every file of the backup but this one, by its path in it. */
  files: z.array(z.strictObject({ path: innerPath, size_bytes: z.int().min(0), sha256 })),
});
export type Manifest = Readonly<z.output<typeof manifestSchema>>;
export type BackupFile = Manifest['files'][number];

/** An object of a backup, as a line of `objects.jsonl.gz`. Its bytes are `objects/{two digits}/{sha256}` beside all backups of the folder. */
export const objectLine = z.strictObject({
  key: z.string(),
  size_bytes: z.int().min(0),
  etag: z.string(),
  content_type: z.string(),
  sha256,
});
export type ObjectLine = z.output<typeof objectLine>;

/** The parts of a folder of backups, and of one backup in it. */
export const backupsFolder = (folder: string) => path.join(folder, 'backups');
export const manifestName = 'manifest.json';
export const objectsName = 'objects.jsonl.gz';
export const busName = 'bus.jsonl.gz';
export const objectsFolder = (folder: string) => path.join(folder, 'objects');
export const objectFile = (folder: string, digest: string) =>
  path.join(objectsFolder(folder), digest.slice(0, 2), digest);

/** "2026-11-25T22-45-19Z": sorts by time, and every file system takes it. */
export const backupName = (at: Date): string => `${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
export const isBackupName = (name: string): boolean => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/.test(name);

/** The backups of a folder that were finished, oldest first. */
export function listBackups(folder: string): readonly string[] {
  const inside = backupsFolder(folder);
  if (!existsSync(inside)) return [];
  return readdirSync(inside)
    .filter((name) => existsSync(path.join(inside, name, manifestName)))
    .sort();
}

/**
 * The folder of one backup, by default the newest one. Throws a sentence for the operator when there is none.
 * @param name as `listBackups` has it
 */
export function chooseBackup(folder: string, name: string | undefined): string {
  const names = listBackups(folder);
  const chosen = name ?? names.at(-1);
  if (chosen === undefined) throw new Error(`${folder} holds no finished backup.`);
  if (!names.includes(chosen))
    throw new Error(`${folder} holds no backup “${chosen}”. There are: ${names.join(', ') || 'none'}.`);
  return path.join(backupsFolder(folder), chosen);
}

/** Reads the manifest of a backup. Throws when it is none of this format. */
export function readManifest(backup: string): Manifest {
  const file = path.join(backup, manifestName);
  const parsed = manifestSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success)
    throw new Error(`${file} is no manifest of this version of longwave. Use the version that made it.`);
  return parsed.data;
}
