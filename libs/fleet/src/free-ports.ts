import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below every system's range for outgoing connections, so that no client socket takes the port of a restarting service. */
const privatePorts = { from: 20_000, to: 32_000 } as const;

/** Why nobody can listen there, whatever other programs do. */
const hopeless: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRNOTAVAIL: (host) => `${host} is no address of this machine`,
  EACCES: (_host, port) => `This user may not listen on port ${port}; ports below 1024 belong to root`,
};

/** Whether a server could listen on `host:port` right now. Rejects with a sentence where none ever can. */
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const reason = hopeless[code]?.(host, port);
      if (reason === undefined) resolve(false);
      else reject(new Error(reason));
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Ports that were handed out in this process. They may not be listened on yet, so none is handed out twice. */
const handedOut = new Set<number>();

/** Keeps ports that somebody chose from being handed out. */
export function reservePorts(ports: readonly number[]): void {
  for (const port of ports) handedOut.add(port);
}

/** Distinct ports of 127.0.0.1 on which nothing listens, none of them twice in the life of this process. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let tries = 0; found.size < count; tries += 1) {
    if (tries > 100 * (count + 1)) throw new Error(`no ${count} free ports between 20000 and 32000`);
    const port = randomInt(privatePorts.from, privatePorts.to);
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isPortFree(port)) found.add(port);
  }
  return [...found];
}

/** One free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}
