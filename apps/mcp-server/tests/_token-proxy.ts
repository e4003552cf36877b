import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * A proxy on the loopback interface that adds an access token, for clients that cannot send one. Everything else passes as it came, also
 * the Host and Origin of somebody else.
 */
export async function startTokenProxy(target: string, token: string) {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const sent = request(new URL(incoming.url!, target), { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      outgoing.flushHeaders();
      pipeline(answer, outgoing, () => undefined);
    });
    pipeline(incoming, sent, (error) => error && outgoing.destroy());
    outgoing.once('close', () => sent.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
