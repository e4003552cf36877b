import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sha256 } from '@longwave/test-kit';
import { openUrl, startServiceProcess, type ServiceProcess } from './_service-process.ts';
import { apply } from './_apply.ts';
import { openBench, showOf, type Bench } from './_support.ts';

const mebibyte = 1 << 20;
const episodes = 5_000;
const descriptionBytes = 4_000;

/** What the heap may have beyond what the service holds at rest: less than the feed takes, so a process that held it all would crash. */
const batchMebibytes = 32;
/** That, and buffers that wait to be collected. */
const growthMaxBytes = 112 * mebibyte;

let bench: Bench;
let service: ServiceProcess;
let path: string;

const memoryOf = ({ pid }: ServiceProcess, field: 'VmRSS' | 'VmHWM') =>
  1024 * Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

beforeAll(async () => {
  bench = await openBench();
  const show = showOf({ digest: sha256(Buffer.from('long')), sizeBytes: 384_000 });
  await apply(bench, ...Object.values(show.events));
  path = `/feeds/${show.subdomain}.xml`;
  await bench.pool.query(
    `insert into episode (id, workspace_id, podcast_id, version, state, attributes, production_id, published_at)
     select 'ep_' || i, workspace_id, podcast_id, 1, 'published',
       attributes || jsonb_build_object('guid', 'guid-' || i, 'title', 'Episode ' || i,
         'description', (select string_agg(md5(i || '.' || j), ' ') from generate_series(1, $2 / 33) as j)),
       production_id, published_at - i * interval '1 hour'
     from episode, generate_series(1, $1 - 1) as i`,
    [episodes, descriptionBytes],
  );
  await bench.pool.query(
    `insert into alias (episode_id, alias, file_name) select id, 't1.' || rpad(md5(id), 100, 'x'), 'episode'
     from episode on conflict do nothing`,
  );
  const atRest = await startServiceProcess(bench);
  const heapMebibytes = Math.ceil((await atRest.held()).heapUsed / mebibyte) + batchMebibytes;
  await atRest.stop('SIGKILL');
  service = await startServiceProcess({
    ...bench,
    environment: { ...bench.environment, NODE_OPTIONS: `--max-old-space-size=${heapMebibytes}` },
  });
}, 120_000);
afterAll(async () => {
  await service.stop('SIGKILL');
  await bench.stop();
});

async function sizeOf(headers: Record<string, string>): Promise<{ items: number; bytes: number; promised: number }> {
  const response = await openUrl(service.url + path, headers);
  let items = 0;
  let bytes = 0;
  let tail = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    const text = tail + chunk.toString('latin1');
    items += text.split('<item>').length - 1;
    tail = text.slice(-5);
  }
  return { items, bytes, promised: Number(response.headers['content-length']) };
}

test('a feed with 5,000 episodes is rendered and sent in the memory of a batch', async () => {
  const before = memoryOf(service, 'VmRSS');
  // From here on VmHWM is the peak (proc_pid_clear_refs(5)).
  writeFileSync(`/proc/${service.pid}/clear_refs`, '5');
  const [plain, zipped] = await Promise.all([sizeOf({}), sizeOf({ 'accept-encoding': 'br' })]);
  expect(plain.items).toBe(episodes);
  expect(plain.bytes).toBeGreaterThan(2 * episodes * (descriptionBytes - 100));
  expect([plain.bytes, zipped.bytes]).toEqual([plain.promised, zipped.promised]);
  const growth = memoryOf(service, 'VmHWM') - before;
  expect(growth).toBeLessThan(growthMaxBytes);
}, 120_000);
