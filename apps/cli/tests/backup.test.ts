import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestDatabase, startTestObjectStore, type TestDatabase } from '@longwave/fleet';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import pg from 'pg';
import { copyObjects } from '../src/backup/copy-objects.ts';
import { dumpDatabase } from '../src/backup/dump-database.ts';
import { lockFolder } from '../src/backup/lock-folder.ts';
import { objectFile } from '../src/backup/manifest.ts';
import { readObjects } from '../src/backup/verify-backup.ts';
import { loadDatabase } from '../src/restore/load-database.ts';
import { putObjects } from '../src/restore/put-objects.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-backup-'));
const stack = new AsyncDisposableStack();
afterAll(async () => {
  await stack.disposeAsync();
  rmSync(folder, { recursive: true });
});
const ignore = () => undefined;

test('a folder takes one backup at a time, and one whose process is gone holds nobody back', () => {
  {
    using _first = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(`A backup into ${folder} is under way (process ${process.pid})`);
  }
  const { pid } = spawnSync('true');
  writeFileSync(path.join(folder, 'backup.lock'), String(pid));
  using _second = lockFolder(folder);
});

describe('objects', () => {
  const contents = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`media/${at}`, `object ${at % 10}`]));
  let store: ObjectStore;
  let number = 0;
  const newBackup = () => {
    const backup = path.join(folder, `backup-${number++}`);
    mkdirSync(backup);
    return backup;
  };
  const copied = path.join(folder, 'copied.jsonl');
  const all = () => true;
  const listed = async (backup: string) => {
    const keys: string[] = [];
    for await (const { key } of readObjects(backup)) keys.push(key);
    return keys;
  };

  beforeAll(async () => {
    store = createObjectStore(stack.use(await startTestObjectStore()));
    await store.ensureBucket();
    for (const [key, content] of Object.entries(contents))
      await store.put(key, Buffer.from(content), { contentType: 'text/plain' });
  });

  test('a backup that was interrupted goes on: what it had copied is not copied again, and equal bytes lie there once', async () => {
    const interrupted = copyObjects(store, { folder, backup: newBackup(), copied }, all, (count) => {
      if (count === 5) throw new Error('the machine went away');
    });
    await expect(interrupted).rejects.toThrow('the machine went away');
    const backup = newBackup();
    const { count, copied: number } = await copyObjects(store, { folder, backup, copied }, all, ignore);
    expect(count).toBe(12);
    expect(number).toBeLessThanOrEqual(7);
    expect(await listed(backup)).toEqual(Object.keys(contents).sort());
    const files = readdirSync(path.join(folder, 'objects'), { recursive: true }).filter((name) =>
      /[0-9a-f]{64}$/.test(String(name)),
    );
    expect(files).toHaveLength(10);
  });

  test('the next backup copies new and changed objects alone, and leaves out those that are gone or do not belong to it', async () => {
    await store.put('media/3', Buffer.from('changed'), { contentType: 'text/plain' });
    await store.put('media/new', Buffer.from('new'), { contentType: 'audio/mpeg' });
    await store.remove('media/4');
    const backup = newBackup();
    const found = await copyObjects(store, { folder, backup, copied }, (key) => key !== 'media/5', ignore);
    expect(found).toMatchObject({ count: 11, copied: 2 });
    expect(await listed(backup)).not.toEqual(expect.arrayContaining(['media/4', 'media/5']));

    const other = createObjectStore(stack.use(await startTestObjectStore()));
    await other.ensureBucket();
    await putObjects(other, folder, readObjects(backup), ignore);
    expect(await text(await other.get('media/3'))).toBe('changed');
    expect(await other.find('media/new')).toMatchObject({ contentType: 'audio/mpeg', sizeBytes: 3 });
  });

  test('what is written into the folder of backups decides nothing about the bytes of the next backup', async () => {
    const bytes = Buffer.from('forged!');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = objectFile(folder, sha256);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    const etags = new Map<string, string>();
    for await (const { key, etag } of store.list('media/3')) etags.set(key, etag);
    const line = { key: 'media/3', etag: etags.get('media/3'), size_bytes: 7, content_type: 'text/plain', sha256 };
    for (const place of ['objects/known.jsonl', 'objects/copied-objects.jsonl'])
      writeFileSync(path.join(folder, place), `${JSON.stringify(line)}\n`);
    const backup = newBackup();
    await copyObjects(store, { folder, backup, copied }, all, ignore);
    const digests = new Map<string, string>();
    for await (const each of readObjects(backup)) digests.set(each.key, each.sha256);
    expect(digests.get('media/3')).toBe(createHash('sha256').update('changed').digest('hex'));
  });
});

describe('the database', () => {
  const schema = 'exchange';
  let [from, to]: TestDatabase[] = [];
  const open = async (database: TestDatabase) => {
    const client = stack.adopt(new pg.Client({ connectionString: database.adminUrl }), (each) => each.end());
    await client.connect();
    return client;
  };
  const odd = `create table ${schema}.odd (id bigserial primary key, text text, bytes bytea, document json,
    ranges int8multirange, at timestamptz(3), length int generated always as (length(text)) stored)`;
  const rowsOf = async (client: pg.Client) =>
    (
      await client.query(
        `select id, text, encode(bytes, 'hex') as bytes, document::text, ranges::text, at, length from ${schema}.odd order by id`,
      )
    ).rows as unknown[];

  beforeAll(async () => {
    const migrations = 'apps/hosting-exchange/prisma';
    [from, to] = await Promise.all([
      startTestDatabase({ schema, migrations }),
      startTestDatabase({ schema, migrations }),
    ]);
    for (const database of [from, to]) stack.defer(database.stop);
  });

  test('every value comes back as it was, sequences go on, and what the other database had is gone', async () => {
    const [source, target] = [await open(from!), await open(to!)];
    for (const client of [source, target]) await client.query(odd);
    await source.query(
      `insert into ${schema}.odd (text, bytes, document, ranges, at) values
       (E'tab\\t, line\\nbreak, \\\\N and ü', '\\x00ff', '{"b": 1,  "a": 2}', '{[1,5),[7,9)}', '2026-11-25T10:00:00.123Z'),
       (null, null, null, '{}', null)`,
    );
    await target.query(`insert into ${schema}.odd (text) values ('from before')`);
    // A row that the history of this schema would not let anyone remove.
    const message = [
      ...['ws_1', 'show:1', 1, 'digest', 'agr_1', 'key_1', 'schema', 'episode', 'source', 1, null],
      ...[
        '6f2b0f6e-0d8a-4e0f-9a57-6c1f0e6a4f10',
        '2026-11-25T10:00:00Z',
        'p',
        'p',
        's',
        'accepted',
        'content_snapshots',
        'rcp_1',
      ],
    ];
    await target.query(
      `insert into ${schema}.message (workspace_id, stream_id, sequence, digest, authority_id, key_id, schema, subject_type, source_id,
         source_version, revokes, event_id, issued_at, protected, payload, signature, state, resource_type, receipt_id, received_at, accepted_at)
       values (${message.map((_, at) => `$${at + 1}`).join(', ')}, now(), now())`,
      message,
    );
    const backup = path.join(folder, 'database-backup');
    const seen: string[] = [];
    const dump = await dumpDatabase(from!.adminUrl, backup, [schema], {
      // What is written after the snapshot is not in it.
      onSnapshot: async () => void (await source.query(`insert into ${schema}.odd (text) values ('later')`)),
      onTable: (_, table) => seen.push(table),
    });
    expect(seen).toContain('odd');
    expect(dump.database.schemas[0]!.tables.find(({ name }) => name === 'odd')).toMatchObject({ rows: 2 });
    await loadDatabase(to!.adminUrl, backup, { version: '0.0.0', database: dump.database }, ignore);
    expect(await rowsOf(target)).toEqual((await rowsOf(source)).slice(0, 2));
    expect((await target.query(`select from ${schema}.message`)).rowCount).toBe(0);
    const { rows } = await target.query<{ id: string }>(`insert into ${schema}.odd default values returning id`);
    expect(Number(rows[0]!.id)).toBeGreaterThan(2);
  });

  test('an event that was marked as sent just before the snapshot counts as not sent, and an earlier one as sent', async () => {
    const [source, target] = [await open(from!), await open(to!)];
    await source.query(
      `insert into ${schema}.outbox (key, event_id, type, payload, published_at)
       values ('a', 'early', 't', '{}', now() - interval '1 minute'), ('a', 'late', 't', '{}', now()), ('a', 'waiting', 't', '{}', null)`,
    );
    const backup = path.join(folder, 'outbox-backup');
    const { database } = await dumpDatabase(from!.adminUrl, backup, [schema], {
      onSnapshot: async () => undefined,
      onTable: ignore,
    });
    await loadDatabase(to!.adminUrl, backup, { version: '0.0.0', database }, ignore);
    const { rows } = await target.query(
      `select event_id from ${schema}.outbox where published_at is null order by position`,
    );
    expect(rows).toEqual([{ event_id: 'late' }, { event_id: 'waiting' }]);
  });

  test('rows of a partitioned table come back whatever partitions the other database has', async () => {
    const [source, target] = [await open(from!), await open(to!)];
    const table = (months: readonly string[]) =>
      [
        `drop table if exists ${schema}.parted`,
        `create table ${schema}.parted (id text primary key, at int) partition by range (id)`,
        `create table ${schema}.parted_rest partition of ${schema}.parted default`,
        ...months.map(
          (id) =>
            `create table ${schema}.parted_${id} partition of ${schema}.parted for values from ('${id}') to ('${id}z')`,
        ),
      ].join(';');
    await source.query(table(['a', 'b']));
    await target.query(table(['b', 'c']));
    await source.query(`insert into ${schema}.parted select chr(97 + n % 4) || n, n from generate_series(1, 40) n`);
    await target.query(`insert into ${schema}.parted values ('c1', 0), ('x', 0)`);
    const backup = path.join(folder, 'parted');
    const { database } = await dumpDatabase(from!.adminUrl, backup, [schema], {
      onSnapshot: () => Promise.resolve(),
      onTable: ignore,
    });
    expect(database.schemas[0]!.tables.filter(({ name }) => name.startsWith('parted'))).toMatchObject([
      { name: 'parted', rows: 40 },
    ]);
    await loadDatabase(to!.adminUrl, backup, { database, version: '1' }, ignore);
    const read = async (client: pg.Client) =>
      (await client.query(`select * from ${schema}.parted order by id`)).rows as unknown[];
    expect(await read(target)).toEqual(await read(source));
    for (const client of [source, target]) await client.query(`drop table ${schema}.parted`);
  });

  test('a database whose migrations differ from those of the backup refuses it, and keeps what it has', async () => {
    const backup = path.join(folder, 'other-backup');
    const { database } = await dumpDatabase(from!.adminUrl, backup, [schema], {
      onSnapshot: async () => undefined,
      onTable: ignore,
    });
    const older = {
      ...database,
      schemas: database.schemas.map((each) => ({ ...each, migrations: each.migrations.slice(1) })),
    };
    await expect(loadDatabase(to!.adminUrl, backup, { version: '0.4.0', database: older }, ignore)).rejects.toThrow(
      'The backup was made by version 0.4.0, whose tables of schema exchange differ from those of this version. Restore it with version 0.4.0, then upgrade.',
    );
  });
});
