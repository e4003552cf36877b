import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { createPool, type Pool } from '@longwave/postgres';
import { bareEnvironment } from '@longwave/test-kit';
import { fact, lists, seen } from '@longwave/test-kit/delivery-facts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
// Every command is a program that starts anew.
jest.setTimeout(120_000);

let database: TestDatabase;
let pool: Pool;
let folder: string;

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
  pool = createPool(database.url, 'audience', { name: 'test', copies: true });
  folder = mkdtempSync(path.join(os.tmpdir(), 'documentation-'));
});
afterAll(async () => {
  await pool?.end();
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the blocks of counting.md that are marked with a word, as they are written, in an empty folder. */
async function runBlocks(word: string): Promise<string> {
  const text = readFileSync(path.join(root, 'docs/counting.md'), 'utf8');
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`sh ${word}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block]) => block,
  );
  expect(blocks.length).toBeGreaterThan(1);
  // The program behind `npm run longwave -- …` once the machine is prepared.
  const npm = `npm() { shift 3; "${process.execPath}" "${root}/apps/cli/src/main.ts" "$@"; }`;
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', [npm, ...blocks].join('\n')], {
    cwd: folder,
    env: { ...bareEnvironment, DATABASE_URL: database.url },
  });
  return stdout;
}

test('the recount that counting.md describes runs as it is written, and agrees', async () => {
  const november = { started_at: '2026-11-02T10:00:00.000Z' };
  await recordFacts(
    pool,
    [seen(), fact({ fact_id: 'f1', ...november }), fact({ fact_id: 'f2', listener_key: 'other', ...november })],
    lists,
    createCountingMemory(),
  );
  const printed = await runBlocks('recount');
  expect(printed).toMatch(/Podcasts, window calendar_utc\n.*\n +ws_1 +pod_1 +2 +2\n/);
  expect(printed).toMatch(/All \d+ numbers agree\./);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['november.json', 'november.jsonl.gz']));
});

test('the import that counting.md describes runs as it is written, and shows what it stored', async () => {
  const golden = path.join(root, 'apps/audience-tools/cases/prefix-log');
  copyFileSync(path.join(golden, 'log.csv'), path.join(folder, 'access.csv'));
  copyFileSync(path.join(golden, 'episodes.csv'), path.join(folder, 'episodes.csv'));
  const printed = await runBlocks('import-log');
  expect(printed.match(/Episodes\n.*\n +pod_1 +ep_1 +4 +1\n +pod_1 +ep_2 +3 +0\n/g)).toHaveLength(3);
  expect(printed).toMatch(/ +harbour +ep_1 +4 +1\n/);
});
