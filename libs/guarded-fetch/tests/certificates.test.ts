import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { developmentCa } from '@longwave/fleet';
import { createGuardedFetch } from '../src/index.ts';

test('a certificate that nobody trusts is refused', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-fetch-'));
  const files = (await developmentCa(folder, ['media'], new Date())).media;
  const server = createServer({ key: readFileSync(files.key), cert: readFileSync(files.cert) }, (_request, response) =>
    response.end(),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fetch = createGuardedFetch({ allowOrigins: [url] });
    await expect(fetch(url, { maxBytes: 1_000, timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'media_not_fetchable',
      message: expect.stringContaining('certificate'),
    });
  } finally {
    await new Promise((closed) => server.close(closed));
    rmSync(folder, { recursive: true });
  }
});
