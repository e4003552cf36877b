import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import {
  addAuthority,
  countAuthorities,
  developmentCa,
  dropFormerAuthorities,
  signedByFormerAuthority,
  type IdentityFiles,
} from './development-ca.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-ca-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const now = new Date();
const dayMs = 86_400_000;
const pem = ({ ca, cert, key }: IdentityFiles) => ({
  ca: readFileSync(ca),
  cert: readFileSync(cert),
  key: readFileSync(key),
});

/** Connects as one service to another, each with the files that it read at its start. Answers how the caller is named. */
async function connect(called: ReturnType<typeof pem>, caller: ReturnType<typeof pem>): Promise<string | undefined> {
  const server = tls.createServer({ ...called, requestCert: true, rejectUnauthorized: true });
  try {
    const named = new Promise<string | undefined>((resolve, reject) => {
      server.once('tlsClientError', reject);
      server.once('secureConnection', (socket) => {
        resolve(socket.getPeerX509Certificate()?.subjectAltName);
        socket.end();
      });
    });
    named.catch(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = tls.connect({ ...caller, port, servername: 'management', host: '127.0.0.1' });
    await new Promise<void>((resolve, reject) => client.once('secureConnect', resolve).once('error', reject));
    client.on('error', () => undefined);
    try {
      return await named;
    } finally {
      client.destroy();
    }
  } finally {
    server.close();
  }
}

test('two services authenticate each other by name and SPIFFE URI over mutual TLS', async () => {
  const files = await developmentCa(folder, ['management', 'encoder'], now);
  expect(await connect(pem(files.management), pem(files.encoder))).toBe(
    'DNS:encoder, DNS:localhost, URI:spiffe://longwave/encoder, IP Address:127.0.0.1',
  );
});

test('while an authority is replaced every pair of services that knows both agrees, and afterwards the one before is foreign', async () => {
  const names = ['management', 'encoder'] as const;
  const of = async (renewAll = false) => {
    const files = await developmentCa(own, names, now, { renewAll });
    return { management: pem(files.management), encoder: pem(files.encoder) };
  };
  const own = path.join(folder, 'rotated');
  const first = await of();
  await addAuthority(own, now);
  // As services that read the authorities again and have their certificates still.
  const ca = readFileSync(path.join(own, 'ca.pem'));
  const both = { management: { ...first.management, ca }, encoder: { ...first.encoder, ca } };
  expect([countAuthorities(own), signedByFormerAuthority(own, names)]).toEqual([2, [...names]]);
  expect(await connect(first.management, both.encoder)).toContain('encoder');
  const renewed = await of(true);
  for (const [called, caller] of [
    [both, both],
    [both, renewed],
    [renewed, both],
    [renewed, renewed],
  ] as const)
    expect(await connect(called.management, caller.encoder)).toContain('encoder');
  expect(signedByFormerAuthority(own, names)).toEqual([]);
  dropFormerAuthorities(own);
  const last = await of();
  expect(countAuthorities(own)).toBe(1);
  expect(await connect(last.management, last.encoder)).toContain('encoder');
  await expect(connect(last.management, both.encoder)).rejects.toThrow();
  await expect(connect(both.management, last.encoder)).rejects.toThrow();
});

test('the chain holds: the CA may sign, the service certificate may not, and both verify', async () => {
  const files = (await developmentCa(folder, ['encoder'], now)).encoder;
  const [ca, encoder] = [files.ca, files.cert].map((file) => new X509Certificate(readFileSync(file)));
  expect({ ca: ca?.ca, encoder: encoder?.ca }).toEqual({ ca: true, encoder: false });
  expect(encoder?.checkIssued(ca as X509Certificate)).toBe(true);
  expect(encoder?.verify((ca as X509Certificate).publicKey)).toBe(true);
  expect(encoder?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  expect(encoder?.checkHost('management')).toBeUndefined();
});

test('private keys are readable by their owner only', async () => {
  const { encoder } = await developmentCa(folder, ['encoder'], now);
  expect(statSync(encoder.key).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(folder, 'ca.key')).mode & 0o777).toBe(0o600);
});

test('a certificate is kept while it lasts and made anew 30 days before its end', async () => {
  const serial = async (at: Date) =>
    new X509Certificate(readFileSync((await developmentCa(folder, ['encoder'], at)).encoder.cert)).serialNumber;
  const first = await serial(now);
  expect(await serial(new Date(now.getTime() + 59 * dayMs))).toBe(first);
  const renewed = await serial(new Date(now.getTime() + 61 * dayMs));
  expect(renewed).not.toBe(first);
});
