import type { Server } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { parseProxyHeader, type ProxyHeader } from './proxy-header.ts';

/** Addresses whose connections begin with a header of the PROXY protocol. */
export interface Proxies {
  has(address: string): boolean;
}

/** Reads the header away. Closes the connection where none comes in time, or one that is not valid. */
function readProxyHeader(socket: Socket, withinMs: number, onHeader: (header: ProxyHeader) => void): void {
  let received = Buffer.alloc(0);
  const close = () => void socket.destroy();
  const late = setTimeout(close, withinMs);
  const stop = () => {
    clearTimeout(late);
    socket.off('data', read).off('end', close).off('error', close).off('close', stop);
  };
  const read = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const header = parseProxyHeader(received);
    if (header === 'incomplete') return;
    if (header === 'invalid') return close();
    stop();
    socket.pause();
    const rest = received.subarray(header.lengthBytes);
    if (rest.length > 0) socket.unshift(rest);
    onHeader(header);
    socket.resume();
  };
  socket.on('data', read).on('end', close).on('error', close).on('close', stop);
}

/** From now on the address of the connection is the client's. */
function rename(socket: Socket, { address, port }: NonNullable<ProxyHeader['client']>): void {
  const names = { remoteAddress: address, remotePort: port, remoteFamily: isIPv6(address) ? 'IPv6' : 'IPv4' };
  for (const [name, value] of Object.entries(names)) Object.defineProperty(socket, name, { value });
}

/**
 * A new server takes connections from proxies only, each of which must begin with a header of the PROXY protocol: the address in it becomes
 * that of the socket. Where it names nobody, as that of a proxy's own health checks, the address of the proxy stays, and
 * `X-Forwarded-For` is taken away, because a proxy of connections passes on what clients write there. Other connections are closed.
 * @param withinMs how long the header may take
 */
export function expectProxyHeaders(server: Server, proxies: Proxies, withinMs: number): void {
  const nameNobody = new WeakSet<Socket>();
  const accept = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    if (!proxies.has(socket.remoteAddress ?? '')) return void socket.destroy();
    readProxyHeader(socket, withinMs, ({ client }) => {
      if (client) rename(socket, client);
      else nameNobody.add(socket);
      for (const listener of accept) listener.call(server, socket);
    });
  });
  server.prependListener('request', ({ socket, headers }) => {
    if (nameNobody.has(socket)) delete headers['x-forwarded-for'];
  });
}
