import http from 'node:http';
import type { Fleet } from '@longwave/fleet';
import { residentMegabytes } from '@longwave/test-kit/resident-memory';
import type { Row } from './measure.ts';
import type { Stitched } from './stitched.ts';

const listeners = 1_000;
/** Each listener reads this much: more than the kernel buffers for a connection, so that the service has begun to buffer itself. */
const takenBytes = 256 * 1024;

/** A download that stops reading after `takenBytes` and stays open. */
function listenSlowly(url: string, agent: http.Agent, name: string): Promise<http.ClientRequest> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent, headers: { 'user-agent': name } }, (response) => {
      let taken = 0;
      response.on('data', (chunk: Buffer) => {
        taken += chunk.length;
        if (taken < takenBytes) return;
        response.pause();
        resolve(request);
      });
      response.on('error', () => undefined);
    });
    request.on('error', reject);
  });
}

const memoryOf = (service: string) =>
  residentMegabytes()
    .filter(({ command }) => command.includes(`/apps/${service}/`))
    .reduce((sum, { megabytes }) => sum + megabytes, 0);

/** Resident memory of public-delivery while 1,000 listeners hold a half-read whole file, against the same process before them. */
export async function slowListeners(fleet: Fleet, stitched: Stitched): Promise<Row> {
  const service = 'public-delivery';
  const agent = new http.Agent({ keepAlive: false, maxSockets: Infinity });
  const before = memoryOf(service);
  const running: http.ClientRequest[] = [];
  for (let at = 0; at < listeners; at += 50)
    running.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, (_, i) => listenSlowly(stitched.mediaUrl, agent, `Slow/${at + i}`)),
      )),
    );
  const during = memoryOf(service);
  for (const request of running) request.destroy();
  await fleet.services[service].ready();
  return {
    name: `memory with ${listeners.toLocaleString('en')} slow listeners (less is better)`,
    unit: 'MB',
    ours: during,
    baseline: before,
    baselineName: 'public-delivery before them',
    ratio: during / before,
  };
}
