import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { methodologyVersion } from '@longwave/audience';
import { startTestDatabase } from '@longwave/fleet';
import { createPool } from '@longwave/postgres';
import { fact, lists, seen } from '@longwave/test-kit/delivery-facts';
import { overview, recountCommands } from '../src/cli/recount.ts';
import { writeFactFile } from '../src/recount/fact-file.ts';
import { runTool } from './_run-tool.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(os.tmpdir(), 'fact-files-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string) => path.join(folder, name);

const recountTool = (args: readonly string[], environment?: Readonly<Record<string, string>>) =>
  runTool({ commands: recountCommands, help: overview }, args, environment);

test('an export that fails leaves the older file as it was and nothing else', async () => {
  await using stack = new AsyncDisposableStack();
  const database = stack.adopt(
    await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' }),
    (it) => it.stop(),
  );
  const pool = stack.adopt(createPool(database.url, 'audience', { name: 'test' }), (it) => it.end());
  const file = inFolder('facts.jsonl');
  writeFileSync(file, 'older');
  await pool.query(`insert into layout values ('broken', 'arr', 1, '[]')`);
  await pool.query(
    `insert into fact (fact_id, request_id, started_at, at, workspace_id, podcast_id, episode_id, layout_digest, method, status,
       requested, written, published_at, listener_key, address_key, address_verdict, prefetch, country, region, late, lists_version)
     select 'f1', 'r1', 'infinity', 'infinity', 'ws', 'pod', 'ep', 'broken', 'GET', 200, '{}', '{}', now(), 'k', 'a', 'ok', false,
       'DE', 'unknown', false, 'v'`,
  );
  expect((await recountTool(['export', '--out', file], { DATABASE_URL: database.url })).code).toBe(1);
  expect(readFileSync(file, 'utf8')).toBe('older');
  expect(readdirSync(folder)).toEqual(['facts.jsonl']);
});

test('a cut, foreign or missing file is refused with words that say what to do', async () => {
  const file = inFolder('facts.jsonl.gz');
  const versions = { methodology_version: methodologyVersion, lists_version: lists.listsVersion };
  await writeFactFile(
    file,
    {
      ...{ kind: 'fact_file', format: 1, from: null, to: null, workspace_id: null, podcast_id: null },
      ...{ complete_until: null, exported_at: '2025-12-01T00:00:00.000Z', ...versions },
    },
    (async function* () {
      yield [seen(), fact({ fact_id: 'f1' })];
    })(),
    () => undefined,
  );
  expect((await recountTool(['count', file])).code).toBe(0);
  const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
  const attempt = async (name: string, content: string | Buffer) => {
    writeFileSync(inFolder(name), content);
    const { code, err, out } = await recountTool(['count', inFolder(name)]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    return err;
  };
  expect(await attempt('no-end.jsonl', lines.slice(0, -1).join('\n'))).toMatch(/not complete\. Export the facts again/);
  expect(await attempt('half.jsonl', lines.join('\n').slice(0, -80))).toMatch(/export/i);
  expect(await attempt('half.gz', readFileSync(file).subarray(0, -20))).toMatch(/damaged|not complete/);
  expect(await attempt('foreign.jsonl', '{"a":1}\n')).toMatch(/is not a file of facts. Make one with `recount export`/);
  expect(await attempt('empty.jsonl', '')).toMatch(/empty/);
  expect((await recountTool(['count', inFolder('missing.jsonl')])).err).toMatch(/missing.jsonl/);
  expect((await recountTool(['count'])).err).toMatch(/Name one or more files/);
});
