import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy whose connections can stall, as those of a network. */
export interface StallingProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections stall after so many bytes in one direction; null: they do not. */
  limit: { readonly direction: 'down' | 'up'; readonly bytes: number } | null;
  /** Connections that are stalled now. */
  stalled(): number;
}

export async function startStallingProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<StallingProxy> {
  const sockets = new Set<Socket>();
  const halted = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    const flow = (from: Socket, to: Socket, direction: 'down' | 'up') => {
      let passed = 0;
      sockets.add(from);
      from.on('data', (chunk) => {
        passed += chunk.length;
        if (proxy.limit?.direction === direction && passed > proxy.limit.bytes) {
          halted.add(client);
          from.pause();
        } else if (!to.write(chunk)) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        halted.delete(client);
        to.destroy();
      });
    };
    flow(client, upstream, 'up');
    flow(upstream, client, 'down');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: StallingProxy = {
    port: (server.address() as AddressInfo).port,
    limit: null,
    stalled: () => halted.size,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return proxy;
}
