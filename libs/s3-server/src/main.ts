import type { AddressInfo } from 'node:net';
import { readConfig } from './config.ts';
import { createS3Server } from './server.ts';

const maxStopMs = 10_000;

// The server goes on when its log cannot be written (a full disk).
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const line = (fields: Readonly<Record<string, unknown>>) => `${JSON.stringify(fields)}\n`;

/** Without the message: it may contain a key. */
const reportError = (error: unknown) => {
  const { name, code, syscall, stack } = error as NodeJS.ErrnoException;
  const at = stack?.split('\n').filter((frame) => frame.trimStart().startsWith('at '));
  process.stderr.write(line({ level: 'error', event: 'request.failed', name, code, syscall, at }));
};

const { host, port, folder, region, keys } = readConfig(process.env, reportError);
const server = createS3Server({ folder, region, keys, onError: reportError });
server.listen(port, host, () => {
  const { address, family, port: actualPort } = server.address() as AddressInfo;
  const shown = family === 'IPv6' ? `[${address}]` : address;
  process.stdout.write(line({ listening: `http://${shown}:${actualPort}` }));
});

const stop = () => {
  server.close();
  // A connection that is kept alive becomes idle when its last answer is sent.
  setInterval(() => server.closeIdleConnections(), 100).unref();
  setTimeout(() => server.closeAllConnections(), maxStopMs).unref();
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
