import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import { developmentCa, type IdentityFiles } from './development-ca.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-ca-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const now = new Date();
const dayMs = 86_400_000;
const pem = ({ ca, cert, key }: IdentityFiles) => ({
  ca: readFileSync(ca),
  cert: readFileSync(cert),
  key: readFileSync(key),
});

test('two services authenticate each other by name and SPIFFE URI over mutual TLS', async () => {
  const files = await developmentCa(folder, ['management', 'encoder'], now);
  const server = tls.createServer({ ...pem(files.management), requestCert: true, rejectUnauthorized: true });
  const caller = new Promise<string | undefined>((resolve) =>
    server.once('secureConnection', (socket) => {
      resolve(socket.getPeerX509Certificate()?.subjectAltName);
      socket.end();
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = tls.connect({
    ...pem(files.encoder),
    port: (server.address() as AddressInfo).port,
    servername: 'management',
    host: '127.0.0.1',
  });
  await new Promise<void>((resolve, reject) => client.once('secureConnect', resolve).once('error', reject));
  expect(await caller).toBe('DNS:encoder, DNS:localhost, URI:spiffe://longwave/encoder, IP Address:127.0.0.1');
  client.destroy();
  server.close();
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

test('a certificate is kept while it lasts and made anew two weeks before its end', async () => {
  const serial = async (at: Date) =>
    new X509Certificate(readFileSync((await developmentCa(folder, ['encoder'], at)).encoder.cert)).serialNumber;
  const first = await serial(now);
  expect(await serial(new Date(now.getTime() + 75 * dayMs))).toBe(first);
  const renewed = await serial(new Date(now.getTime() + 77 * dayMs));
  expect(renewed).not.toBe(first);
});
