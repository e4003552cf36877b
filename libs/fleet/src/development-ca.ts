import { createPrivateKey, createPublicKey, webcrypto, X509Certificate, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CertificateIssuer, CertificateRequest, Keys } from './certificate.ts';

/** Paths of one service's identity (PEM). */
export interface IdentityFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const authorityName = 'Longwave development CA';
const dayMs = 86_400_000;
const lifetimeDays = { authority: 3_650, service: 90 };
/** A certificate that ends within this time is made anew. */
const renewBeforeDays = 14;

function writePrivately(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Signs with the library for X.509, whose 190 modules are loaded only when there is something to sign. */
async function sign(request: CertificateRequest, issuer: CertificateIssuer): Promise<string> {
  const { signCertificate } = await import('./certificate.ts');
  return signCertificate(request, issuer);
}

const newKeys = (): Promise<Keys> => webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);

async function pemOf(privateKey: webcrypto.CryptoKey): Promise<string> {
  const key = await webcrypto.subtle.exportKey('pkcs8', privateKey);
  return createPrivateKey({ key: Buffer.from(key), format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

async function readKeys(keyFile: string): Promise<Keys> {
  const privateKey = createPrivateKey(readFileSync(keyFile));
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return {
    privateKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, keyAlgorithm, true, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', spki, keyAlgorithm, true, ['verify']),
  };
}

/** Whether both files are there, belong together and last; with `issuer`, also signed by it. */
function isFresh(certFile: string, keyFile: string, now: Date, issuer?: KeyObject): boolean {
  if (!existsSync(certFile) || !existsSync(keyFile)) return false;
  const certificate = new X509Certificate(readFileSync(certFile));
  if (certificate.validToDate.getTime() < now.getTime() + renewBeforeDays * dayMs) return false;
  if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))) return false;
  return issuer === undefined || certificate.verify(issuer);
}

async function openAuthority(certFile: string, keyFile: string, now: Date): Promise<CertificateIssuer> {
  if (!isFresh(certFile, keyFile, now)) {
    const keys = await newKeys();
    const authority = { commonName: authorityName, keys };
    const notBefore = new Date(now.getTime() - dayMs);
    const notAfter = new Date(now.getTime() + lifetimeDays.authority * dayMs);
    const request = { commonName: authorityName, publicKey: keys.publicKey, notBefore, notAfter };
    writePrivately(keyFile, await pemOf(keys.privateKey));
    writePrivately(certFile, await sign({ ...request, role: { kind: 'authority' } }, authority));
  }
  return { commonName: authorityName, keys: await readKeys(keyFile) };
}

async function makeIdentity(
  name: string,
  files: IdentityFiles,
  authority: CertificateIssuer,
  now: Date,
): Promise<void> {
  const keys = await newKeys();
  const certificate = await sign(
    {
      commonName: name,
      publicKey: keys.publicKey,
      notBefore: new Date(now.getTime() - 60_000),
      notAfter: new Date(now.getTime() + lifetimeDays.service * dayMs),
      role: {
        kind: 'service',
        dnsNames: [name, 'localhost'],
        ipv4: ['127.0.0.1'],
        uri: `spiffe://longwave/${name}`,
      },
    },
    authority,
  );
  writePrivately(files.key, await pemOf(keys.privateKey));
  writePrivately(files.cert, certificate);
}

/**
 * A private CA in `folder` and one identity per name, for mutual TLS on one machine: EC P-256, 90 days, names
 * `<name>`, `localhost`, 127.0.0.1 and `spiffe://longwave/<name>`. Existing certificates that are still valid are kept.
 * @returns paths by name
 */
export async function developmentCa<N extends string>(
  folder: string,
  names: readonly N[],
  now: Date,
): Promise<Readonly<Record<N, IdentityFiles>>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ca = path.join(folder, 'ca.pem');
  const keyFile = path.join(folder, 'ca.key');
  const authority = await openAuthority(ca, keyFile, now);
  const authorityKey = createPublicKey(readFileSync(keyFile));
  const identities: Partial<Record<N, IdentityFiles>> = {};
  for (const name of names) {
    const files = { ca, cert: path.join(folder, `${name}.pem`), key: path.join(folder, `${name}.key`) };
    if (!isFresh(files.cert, files.key, now, authorityKey)) await makeIdentity(name, files, authority, now);
    identities[name] = files;
  }
  return identities as Record<N, IdentityFiles>;
}
