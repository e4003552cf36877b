import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import type { ClientOptions } from 'minio';

type Transport = NonNullable<ClientOptions['transport']>;

/**
 * Gives up a request on whose connection no byte has moved for `silenceMs`: a network that has broken without a word would keep it for ever. A
 * body that waits for its own reader is left alone.
 */
export function impatientTransport(useSSL: boolean, silenceMs: number): Transport {
  const request = (options: RequestOptions, onResponse?: (response: IncomingMessage) => void): ClientRequest => {
    let body: IncomingMessage | undefined;
    // From the options the time also counts while it connects.
    const sent = (useSSL ? https : http).request({ ...options, timeout: silenceMs }, (response) => {
      body = response;
      // A later reader still meets its error.
      response.on('error', () => undefined);
      onResponse?.(response);
    });
    const giveUp = () => {
      if (body && (body.complete || body.readableLength > 0)) return;
      const error = new Error(`The object store has been silent for ${silenceMs / 1000} s.`);
      body?.destroy(error);
      sent.destroy(error);
    };
    // The request itself tells of the first silence only.
    sent.once('socket', (socket) => {
      socket.on('timeout', giveUp);
      sent.once('close', () => socket.off('timeout', giveUp));
    });
    return sent;
  };
  return { request: request as Transport['request'] };
}
