import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import { developmentCa } from './development-ca.ts';
import { joinAuthorities, trustAuthority } from './trust-authority.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-authorities-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('services trust the authority of the engines here and that of engines elsewhere, where there are both', async () => {
  const authorityIn = async (name: string) => {
    const { kafka } = await developmentCa(path.join(folder, name), ['kafka'], new Date());
    return kafka.ca;
  };
  const [here, elsewhere] = [await authorityIn('here'), await authorityIn('elsewhere')];
  const joined = path.join(folder, 'both.pem');
  expect(joinAuthorities(undefined, undefined, joined)).toBeUndefined();
  expect(joinAuthorities(here, undefined, joined)).toBe(here);
  expect(joinAuthorities(undefined, elsewhere, joined)).toBe(elsewhere);
  // A machine may name an authority twice: in Node's own list and in NODE_EXTRA_CA_CERTS.
  const countTrusted = () =>
    new Set(tls.getCACertificates('default').map((pem) => new X509Certificate(pem).fingerprint256)).size;
  const trustedBefore = countTrusted();
  trustAuthority(joinAuthorities(here, elsewhere, joined)!);
  expect(countTrusted()).toBe(trustedBefore + 2);
});
