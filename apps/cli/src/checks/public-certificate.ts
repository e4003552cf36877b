import { once } from 'node:events';
import { connect } from 'node:tls';

/**
 * When the TLS certificate of a public address ends. Rejects when nothing answers within 5 s, or with what a browser would refuse: another
 * name, an unknown authority, a certificate that has ended.
 * @param url `https://…`
 */
export async function certificateEnd(url: URL): Promise<Date> {
  const socket = connect({
    host: url.hostname,
    port: Number(url.port || 443),
    servername: url.hostname,
    timeout: 5_000,
  });
  socket.once('timeout', () => socket.destroy(new Error('no answer within 5 s')));
  try {
    await once(socket, 'secureConnect');
    return new Date(socket.getPeerCertificate().valid_to);
  } finally {
    socket.destroy();
  }
}
