import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { createPool } from '../src/index.ts';

test('an address says how long to wait for a connection, as for other clients of PostgreSQL', async () => {
  // It accepts and never answers.
  const server = createServer((socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const pool = createPool(`postgresql://nobody@127.0.0.1:${port}/none?connect_timeout=1`, 'product', { name: 'waits' });
  try {
    await expect(pool.query('select 1')).rejects.toThrow('timeout');
    expect(pool.options.connectionTimeoutMillis).toBe(1_000);
  } finally {
    await pool.end();
    server.close();
  }
});
