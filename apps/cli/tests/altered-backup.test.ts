import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { verifyFiles } from '../src/backup/verify-backup.ts';
import { restoreBackup } from '../src/restore/restore-backup.ts';
import { restoreDataFiles } from '../src/restore/restore-data-files.ts';

let folder: string;
let backup: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'longwave-altered-'));
  backup = path.join(folder, 'backups', '2026-11-25T22-45-19Z');
  put('objects.jsonl.gz', gzipSync(''));
  put('data/secrets/secrets.json', '{}');
  put('data/delivery-journal/part/1.jsonl', 'facts');
  put('data/first-job.json', '{}');
  list(...filesOf());
});
afterEach(() => rmSync(folder, { recursive: true }));

const filesOf = () =>
  readdirSync(backup, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && entry.name !== 'manifest.json')
    .map((entry) => path.relative(backup, path.join(entry.parentPath, entry.name)));

function put(name: string, content: string | Buffer): void {
  mkdirSync(path.dirname(path.join(backup, name)), { recursive: true });
  writeFileSync(path.join(backup, name), content);
}

/** Writes a manifest with these files and their right digests, as whoever alters a backup can. */
function list(...names: string[]): void {
  const files = names.map((name) => {
    const content = readFileSync(path.join(backup, name));
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { path: name, size_bytes: content.length, sha256 };
  });
  const at = '2026-11-25T22:45:19Z';
  put(
    'manifest.json',
    JSON.stringify({
      ...{ kind: 'longwave_backup', format: 1, version: '0.0.0', snapshot_at: at, finished_at: at },
      ...{ database: { version: '18', schemas: [] }, objects: { count: 0, size_bytes: 0 }, files },
    }),
  );
}

const problemsOf = async () => (await verifyFiles(backup)).problems;
const restore = () => restoreBackup({ folder, backup, target: path.join(folder, 'restored'), tell: () => undefined });

test('files of a backup come back for their owner alone', async () => {
  expect(await problemsOf()).toEqual([]);
  const target = path.join(folder, 'data');
  const { manifest } = await verifyFiles(backup);
  await restoreDataFiles(backup, manifest.files, target);
  expect(readFileSync(path.join(target, 'delivery-journal/part/1.jsonl'), 'utf8')).toBe('facts');
  const modes = readdirSync(target, { recursive: true }).map((name) => statSync(path.join(target, String(name))).mode);
  expect(new Set(modes.map((mode) => mode & 0o777))).toEqual(new Set([0o700, 0o600]));
});

test.each(['data/postgres/cluster/recovery.signal', 'data/tls/ca.key', 'data/postgres.location', 'notes.txt'])(
  'a file that the manifest does not list is called by its name, and nothing is restored: %s',
  async (name) => {
    put(name, 'altered');
    expect(await problemsOf()).toEqual([`${name} is not in the manifest.`]);
    await expect(restore()).rejects.toThrow(`${name} is not in the manifest.`);
    expect(readdirSync(folder)).toEqual(['backups']);
  },
);

test.each([
  'data/postgres/cluster/recovery.signal',
  'data/tls/ca.key',
  'data/postgres.location',
  'data/secrets.location',
])('a file that no backup holds is not restored, though the manifest lists it: %s', async (name) => {
  put(name, 'altered');
  list(...filesOf());
  await expect(restore()).rejects.toThrow(`The backup lists ${name}, which no backup holds.`);
  expect(readdirSync(folder)).toEqual(['backups']);
});

test.each(['data/secrets/../postgres.location', '../../outside', '/etc/hostname', 'data//secrets'])(
  'a manifest with a path that leads out of its place is refused: %s',
  async (name) => {
    const { manifest } = await verifyFiles(backup);
    const files = [...manifest.files, { ...manifest.files[0], path: name }];
    put('manifest.json', JSON.stringify({ ...manifest, files }));
    await expect(restore()).rejects.toThrow('is no manifest');
    expect(readdirSync(folder)).toEqual(['backups']);
  },
);

test('a manifest that leaves out what the backup needs is not whole', async () => {
  list(...filesOf().filter((name) => name !== 'objects.jsonl.gz'));
  expect(await problemsOf()).toEqual(['objects.jsonl.gz is not in the manifest.']);
});

test.each(['data', 'data/secrets', 'data/secrets/secrets.json'])(
  'a symbolic link is refused in the place of %s, though its content is right',
  async (name) => {
    const elsewhere = path.join(folder, 'elsewhere');
    renameSync(path.join(backup, name), elsewhere);
    symlinkSync(elsewhere, path.join(backup, name));
    expect(await problemsOf()).toContain('data/secrets/secrets.json is not a regular file.');
    await expect(restore()).rejects.toThrow('is not a regular file.');
    const { manifest } = await verifyFiles(backup);
    const target = path.join(folder, 'data');
    await expect(restoreDataFiles(backup, manifest.files, target)).rejects.toThrow('is not a regular file.');
    expect(existsSync(target)).toBe(false);
  },
);
