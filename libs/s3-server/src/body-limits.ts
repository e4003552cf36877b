import type { IncomingMessage, ServerResponse } from 'node:http';

/** How slowly and how long a client may send the body of one request. */
export interface BodyLimits {
  /** A body that brings fewer than `minWindowBytes` bytes in this time is cut off. */
  readonly windowMs: number;
  readonly minWindowBytes: number;
  /** The longest time for one body. */
  readonly maxBodyMs: number;
  /** How long the rest of a body is read after the answer, so that a client that is still sending sees it. */
  readonly maxUnwantedMs: number;
}

/** 1 KiB/s over 30 s, and a day, which is longer than a grant for an upload. */
export const defaultBodyLimits: BodyLimits = {
  windowMs: 30_000,
  minWindowBytes: 30 * 1024,
  maxBodyMs: 24 * 3600_000,
  maxUnwantedMs: 10_000,
};

/** Ends the connection of a request whose body comes too slowly, or goes on for too long after the answer. */
export function limitBody(request: IncomingMessage, response: ServerResponse, limits: BodyLimits): void {
  if (request.headers['transfer-encoding'] === undefined && !Number(request.headers['content-length'])) return;
  const { socket } = request;
  const cutOff = () => {
    if (!request.complete) socket.destroy();
  };
  let readBytes = socket.bytesRead;
  const window = setInterval(() => {
    const isSlow = socket.bytesRead - readBytes < limits.minWindowBytes;
    readBytes = socket.bytesRead;
    // While received bytes wait to be read, the disk is slow, not the client.
    if (isSlow && request.readableLength === 0) cutOff();
  }, limits.windowMs);
  const whole = setTimeout(cutOff, limits.maxBodyMs);
  response.once('finish', () => {
    clearInterval(window);
    clearTimeout(whole);
    if (request.complete) return;
    const rest = setTimeout(cutOff, limits.maxUnwantedMs).unref();
    for (const event of ['end', 'close']) request.once(event, () => clearTimeout(rest));
    request.on('error', () => {});
    request.resume();
  });
  response.once('close', () => {
    clearInterval(window);
    clearTimeout(whole);
  });
}
