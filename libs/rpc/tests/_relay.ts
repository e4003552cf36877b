import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP relay to a port of this machine: counts connections, and lets bytes lie as a network does that has lost the other side. */
export async function startRelay(port: number) {
  const sockets = new Set<Socket>();
  let isStalled = false;
  let connections = 0;
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    if (isStalled) from.pause();
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((caller) => {
    connections++;
    const service = connect(port, '127.0.0.1');
    pass(caller, service);
    pass(service, caller);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    stall: () => {
      isStalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
