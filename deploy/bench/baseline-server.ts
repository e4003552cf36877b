import { fork } from 'node:child_process';
import path from 'node:path';

/** A program of this folder that answers as a baseline, in a process of its own; it prints the port that it listens on. */
export async function startBaseline(
  program: 'answer-server.ts' | 'redirect-server.ts',
  argument: string,
): Promise<Disposable & { readonly url: string }> {
  const server = fork(path.join(import.meta.dirname, program), [argument], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = await new Promise<string>((resolve) =>
    server.stdout!.once('data', (data: Buffer) => resolve(data.toString().trim())),
  );
  return { url: `http://127.0.0.1:${port}/`, [Symbol.dispose]: () => void server.kill() };
}
