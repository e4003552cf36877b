import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { bareEnvironment } from '@longwave/test-kit';
import { dataFolder, lists } from '@longwave/test-kit/delivery-facts';
import { help, importLogCommands } from '../src/cli/import-log.ts';
import { gatherRequests } from '../src/import-log/gather-requests.ts';
import { createClassifyRecord } from '../src/import-log/classify-records.ts';
import { matchByPattern, matchRecords } from '../src/import-log/match-episode.ts';
import { readLog } from '../src/import-log/read-log.ts';
import { runTool } from './_run-tool.ts';

const golden = path.resolve(import.meta.dirname, '../cases/prefix-log');
const goldenLog = (format: string) => path.join(golden, `log.${format}`);
const expected = JSON.parse(readFileSync(path.join(golden, 'expected.json'), 'utf8')) as ImportJson & {
  judged: unknown;
  malformed: number;
  problems: string[];
};

interface ImportJson {
  readonly files: readonly {
    readonly imported_before: boolean;
    readonly records: number;
    readonly judged: Record<string, number>;
    readonly malformed: number;
    readonly problems: readonly { line: number; problem: string }[];
  }[];
  readonly prefix_requests: readonly { episode_id: string; day: string; prefix_requests: number; first_two: number }[];
}

let database: TestDatabase;
let pool: Pool;
let folder: string;
const inFolder = (name: string) => path.join(folder, name);

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
  pool = createPool(database.url, 'audience', { name: 'test' });
});
afterAll(async () => {
  await pool?.end();
  await database?.stop();
});
beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'import-log-'));
  writeFileSync(inFolder('secret'), `${'0123456789abcdef'.repeat(4)}\n`);
  await pool.query('delete from prefix_request');
  await pool.query('delete from prefix_import');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function importLog(...args: string[]) {
  const tool = { commands: importLogCommands, help };
  const ran = await runTool(tool, [...args, '--temp', folder], { DATABASE_URL: database.url });
  return { ...ran, json: () => JSON.parse(ran.out) as ImportJson };
}

const ofHarbour = ['--podcast', 'pod_1', '--episodes', path.join(golden, 'episodes.csv')];
const secret = () => ['--secret-file', inFolder('secret')];
const report = (...args: string[]) => importLog('--report', '--json', ...ofHarbour, ...secret(), ...args);
const store = (...args: string[]) =>
  importLog('--store', '--json', '--workspace', 'ws_1', ...ofHarbour, ...secret(), ...args);
const shown = async (...args: string[]) => (await importLog('--show', '--json', ...args)).json().prefix_requests;

describe('the same requests in every format give the same numbers', () => {
  test.each(['csv', 'jsonl', 'avro'])('%s', async (format) => {
    const { code, json } = await report(goldenLog(format));
    expect(code).toBe(0);
    const [{ judged, malformed, problems } = json().files[0]!] = json().files;
    expect({
      judged,
      malformed,
      problems: problems.map(({ problem }) => problem),
      prefix_requests: json().prefix_requests,
    }).toEqual(expected);
  });

  test.each(['csv', 'jsonl', 'avro'])(
    '%s packed, together with the plain file: every request counts once',
    async (format) => {
      writeFileSync(inFolder('packed'), gzipSync(readFileSync(goldenLog(format))));
      const { json } = await report(goldenLog(format), inFolder('packed'));
      expect(json().files.map((file) => file.judged)).toEqual([expected.judged, expected.judged]);
      expect(json().prefix_requests).toEqual(expected.prefix_requests);
    },
  );

  test('Amazon CloudFront: W3C extended, date and time apart, agents percent-encoded', async () => {
    const names = 'date time c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query';
    const row = ['2025-11-02', '10:00:00', '192.0.2.1', 'GET', 'd1.example', '/audio/harbour/ep_1.mp3', '200', '-'];
    writeFileSync(
      inFolder('log'),
      `#Version: 1.0\n#Fields: ${names}\n${[...row, 'NovelPlayer/0.1%20(x)', '-'].join('\t')}\n${[...row, 'Feed%20Bot/1', '-'].join('\t')}\n`,
    );
    const { json } = await report(inFolder('log'));
    expect(json().files[0]!.judged).toEqual({ eligible: 1, bot_ua: 1 });
  });
});

describe('columns', () => {
  const log = 'wann;was;wer;womit\n2025-11-02T10:00:00Z;/audio/harbour/ep_1.mp3;192.0.2.1;NovelPlayer/0.1\n';
  test('with unusual names are named by hand', async () => {
    writeFileSync(inFolder('log'), log);
    const { json } = await report(inFolder('log'), '--columns', 'time=wann,url=was,ip=wer,user_agent=womit');
    expect(json().files[0]!.judged).toEqual({ eligible: 1 });
  });
  test('that are not found are named, with those that there are', async () => {
    writeFileSync(inFolder('log'), log);
    const { code, err } = await report(inFolder('log'));
    expect(code).toBe(1);
    expect(err).toMatch(
      /no column for time, url or episode_id, ip or ip_hash, user_agent\. Its columns are wann, was, wer, womit\. .*--columns/,
    );
    expect((await report(inFolder('log'), '--columns', 'when=wann')).err).toMatch(/--columns must be a list such as/);
  });
});

describe('malformed records', () => {
  const good = '2025-11-02T10:00:00Z,/audio/harbour/ep_1.mp3,192.0.2.1,NovelPlayer/0.1';
  const write = (lines: readonly string[]) =>
    writeFileSync(inFolder('log.csv'), ['time,url,ip,user_agent', ...lines].join('\n'));

  test('are reported by line, the first twenty, and never quoted', async () => {
    write([good, ...Array.from({ length: 30 }, (_, n) => `secret-${n},/x,198.51.100.7,Agent`), good]);
    const { code, err, json } = await report(inFolder('log.csv'));
    expect(code).toBe(0);
    expect(json().files[0]).toMatchObject({ records: 32, malformed: 30, judged: { eligible: 2 } });
    expect(json().files[0]!.problems.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, n) => n + 3));
    expect(err).toMatch(/log\.csv, line 3: time: not a valid time\n/);
    expect(err).toMatch(/10 more malformed records/);
    expect(err).not.toMatch(/secret-|198\.51/);
  });

  test('a quote that never ends spoils its own line only', async () => {
    write([good, `"${good}`, ...Array.from({ length: 80 }, () => good)]);
    const { json } = await report(inFolder('log.csv'));
    expect(json().files[0]).toMatchObject({ malformed: 1, judged: { eligible: 81 } });
    expect(json().files[0]!.problems).toEqual([{ line: 3, problem: 'a quote that does not end' }]);
  });

  test('are a failure with --strict, and nothing is stored', async () => {
    const { code, out, err } = await store(goldenLog('csv'), '--strict');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/log\.csv, line 23: ip: not a valid address/);
    expect(await shown('--workspace', 'ws_1')).toEqual([]);
    expect((await pool.query('select 1 from prefix_import')).rowCount).toBe(0);
    write([good]);
    expect((await store(inFolder('log.csv'), '--strict')).code).toBe(0);
  });

  test('a file that is not Avro, or was cut, is refused as an Avro file', async () => {
    writeFileSync(inFolder('cut.avro'), readFileSync(goldenLog('avro')).subarray(0, -20));
    expect(await report(inFolder('cut.avro'))).toMatchObject({
      code: 1,
      err: expect.stringMatching(/not a complete Avro/),
    });
    expect(await report(goldenLog('csv'), '--format', 'avro')).toMatchObject({ code: 1 });
  });
});

describe('storing', () => {
  test('a file twice, under any name, changes nothing', async () => {
    await store(goldenLog('csv'));
    const dump = async () =>
      (await pool.query('select * from prefix_request order by listener_key, episode_id, window_on')).rows;
    const before = await dump();
    expect(await shown('--workspace', 'ws_1')).toEqual(expected.prefix_requests);
    writeFileSync(inFolder('copy'), readFileSync(goldenLog('csv')));
    const again = await store(inFolder('copy'), goldenLog('csv'));
    expect(again.json().files.map((file) => file.imported_before)).toEqual([true, true]);
    expect(await dump()).toEqual(before);
    expect((await pool.query('select records::int, malformed::int, judged from prefix_import')).rows).toEqual([
      { records: 23, malformed: 2, judged: expected.judged },
    ]);
  });

  test('files that overlap, in any order, gives what they give together', async () => {
    const lines = readFileSync(goldenLog('jsonl'), 'utf8').split('\n');
    writeFileSync(inFolder('first'), lines.slice(0, 8).join('\n'));
    writeFileSync(inFolder('second'), lines.slice(1).join('\n'));
    await store(inFolder('second'));
    await store(inFolder('first'), goldenLog('avro'));
    expect(await shown('--workspace', 'ws_1')).toEqual(expected.prefix_requests);
    const { rows } = await pool.query(
      `select min(started_at) as first from prefix_request where episode_id = 'ep_1' and not first_two`,
    );
    expect(rows).toEqual([{ first: new Date('2025-11-02T09:59:59.000Z') }]);
  });

  test('keeps workspaces apart, and shows a podcast and a time', async () => {
    await store(goldenLog('csv'));
    expect(await shown('--workspace', 'ws_2')).toEqual([]);
    expect(await shown('--workspace', 'ws_1', '--podcast', 'pod_2')).toEqual([]);
    expect(await shown('--workspace', 'ws_1', '--podcast', 'pod_1', '--from', '2025-11-03')).toEqual(
      expected.prefix_requests.filter((row) => row.day === '2025-11-03'),
    );
    expect(await shown('--workspace', 'ws_1', '--to', '2025-11-02')).toEqual([]);
  });

  test('refuses another secret, which would count listeners twice', async () => {
    await store(goldenLog('csv'));
    writeFileSync(inFolder('secret'), 'f'.repeat(64));
    expect(await store(goldenLog('jsonl'))).toMatchObject({ code: 1, err: expect.stringMatching(/another secret/) });
    expect(await shown('--workspace', 'ws_1')).toEqual(expected.prefix_requests);
  });

  test('writes no address and no user agent, neither to the database nor to temporary files', async () => {
    await store(goldenLog('csv'));
    const { rows } = await pool.query(
      'select row_to_json(r)::text from prefix_request r union all select row_to_json(i)::text from prefix_import i',
    );
    const classify = createClassifyRecord(
      lists,
      matchRecords(matchByPattern('/{episode}.mp3', 'pod_1'), () => undefined),
      Buffer.alloc(32, 1),
    );
    const temporary = mkdtempSync(path.join(folder, 'temporary-'));
    const { rows: kept } = await gatherRequests(
      [readLog(goldenLog('csv'), undefined, {})],
      classify,
      temporary,
      () => undefined,
    );
    // Partitions are written when they are read.
    const first = await kept[Symbol.asyncIterator]().next();
    expect(first.done).toBe(false);
    const files = readdirSync(temporary, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(0);
    const written = [
      ...rows.map((row) => JSON.stringify(row)),
      ...files.map((file) => readFileSync(path.join(file.parentPath, file.name), 'utf8')),
    ];
    expect(written.join('\n')).not.toMatch(/192\.0\.2|2001:db8|NovelPlayer|Pod"cast/);
  });

  test('leaves a column that a newer migration adds with a default at its default', async () => {
    await using stack = new AsyncDisposableStack();
    const admin = stack.adopt(createPool(database.adminUrl, 'audience', { name: 'test' }), (it) => it.end());
    for (const table of ['prefix_import', 'prefix_request']) {
      await admin.query(`alter table ${table} add column added_later text not null default 'kept'`);
      stack.defer(async () => void (await admin.query(`alter table ${table} drop column added_later`)));
    }
    // The second file writes rows over rows.
    await store(goldenLog('csv'));
    await store(goldenLog('jsonl'));
    const { rows } = await pool.query(
      'select added_later from prefix_import union all select distinct added_later from prefix_request',
    );
    expect(rows).toEqual([{ added_later: 'kept' }, { added_later: 'kept' }, { added_later: 'kept' }]);
  });
});

test('the error of a missing option says what to type', async () => {
  const log = goldenLog('csv');
  expect((await importLog(log)).err).toMatch(/--report, --store and --show/);
  expect((await importLog('--report')).err).toMatch(/Name one or more log files/);
  expect((await importLog('--report', log, ...ofHarbour)).err).toMatch(/openssl rand -hex 32/);
  expect((await importLog('--report', log, ...secret())).err).toMatch(/--episodes FILE or --url-pattern/);
  expect((await importLog('--store', log, ...ofHarbour, ...secret())).err).toMatch(/--workspace is missing/);
  writeFileSync(inFolder('short'), 'abc');
  expect((await importLog('--report', log, ...ofHarbour, '--secret-file', inFolder('short'))).err).toMatch(/32 bytes/);
});

test('a log of 200,000 lines is counted within a bounded memory, and its speed is reported', async () => {
  const file = inFolder('large.csv');
  const out = createWriteStream(file);
  out.write('time,method,status,url,ip,user_agent,range\n');
  const lines = 200_000;
  for (let at = 0; at < lines; at += 1_000) {
    const block = Array.from({ length: 1_000 }, (_, n) => {
      const listener = (at + n) % 50_000;
      const ip = `10.${listener >> 16}.${(listener >> 8) & 255}.${listener & 255}`;
      const time = new Date(Date.UTC(2025, 10, 1 + Math.floor((at + n) / 100_000), 10)).toISOString();
      return `${time},GET,302,https://p.example/e/cdn.example/audio/harbour/ep_${listener % 2 ? 1 : 2}.mp3,${ip},NovelPlayer/0.${listener % 100},${at % 2_000 ? 'bytes=0-1' : ''}\n`;
    });
    if (!out.write(block.join(''))) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
  const script = path.resolve(import.meta.dirname, '../src/cli/import-log.ts');
  const counted = spawnSync(
    process.execPath,
    ['--max-old-space-size=64', script, file, '--report', '--json', ...ofHarbour, ...secret(), '--temp', folder],
    { encoding: 'utf8', env: { ...bareEnvironment, AUDIENCE_DATA: dataFolder } },
  );
  expect(counted.stderr).toMatch(/^import: 200,000 records/m);
  const { files, prefix_requests } = JSON.parse(counted.stdout) as ImportJson;
  expect(files[0]!.judged).toEqual({ eligible: 100_000, first_two: 100_000 });
  expect(prefix_requests.map((row) => row.prefix_requests)).toEqual([25_000, 25_000, 25_000, 25_000]);
}, 120_000);
