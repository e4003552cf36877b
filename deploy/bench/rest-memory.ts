import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { removeDataFolder, startFleet, temporaryDataFolder } from '@longwave/fleet';
import { namesOf, services } from '@longwave/services';
import { residentMegabytes } from '@longwave/test-kit/resident-memory';
import type { Row } from './measure.ts';

const restMs = 20_000;
const marker = 'bare-express';
const bareServer = "import express from 'express'; express().listen(0, '127.0.0.1', () => console.log('listening'));";

/** A plain Node process with an express server without routes. */
async function startBareServer(): Promise<Disposable> {
  const args = [`--title=${marker}`, '--input-type=module', '--eval', bareServer];
  const server = spawn(process.execPath, args, {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  return { [Symbol.dispose]: () => void server.kill() };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Proportional memory of the processes of an installation that nobody has used yet, 20 s after its start. */
export async function restMemory(): Promise<Row> {
  const names = namesOf(services);
  const data = temporaryDataFolder();
  try {
    await using fleet = await startFleet({ dataFolder: data.root, ports: 'free' });
    using bare = new DisposableStack();
    for (const _ of names) bare.use(await startBareServer());
    await wait(restMs);
    const processes = residentMegabytes();
    const of = (part: string) =>
      sum(processes.filter(({ command }) => command.includes(part)).map(({ megabytes }) => megabytes));
    const each = names.map((name) => ({ name, megabytes: of(`/apps/${name}/dist/main.js`) }));
    const [ours, baseline] = [sum(each.map(({ megabytes }) => megabytes)), of(marker)];
    await fleet.stop();
    return {
      name: `memory of ${names.length} services at rest, less is better (${each.map(({ name, megabytes }) => `${name} ${Math.round(megabytes)}`).join(', ')})`,
      unit: 'MB',
      ours,
      baseline,
      baselineName: 'as many Node processes with an empty express server each',
      ratio: ours / baseline,
    };
  } finally {
    removeDataFolder(data);
  }
}
