import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

/** A proxy to a server. Closed, it refuses connections like a stopped server. */
export interface Gate extends AsyncDisposable {
  readonly port: number;
  close(): Promise<void>;
  open(): Promise<void>;
}

export async function openGate(to: { readonly host: string; readonly port: number }): Promise<Gate> {
  const sockets = new Set<Socket>();
  const server = net.createServer((near) => {
    const far = net.connect(to.port, to.host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy()).on('close', () => (other.destroy(), sockets.delete(socket)));
      socket.pipe(other);
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    port,
    close,
    open: async () => void (server.listening || (await listen(port))),
    [Symbol.asyncDispose]: close,
  };
}
