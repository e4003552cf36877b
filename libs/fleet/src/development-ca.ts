import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { signCertificate, type CertificateIssuer } from './certificate.ts';

/** Paths of one service's identity (PEM). */
export interface IdentityFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const authorityName = 'Longwave development CA';
const dayMs = 86_400_000;
const lifetimeDays = { authority: 3_650, service: 90 };
/** A certificate that ends within this time is made anew. */
const renewBeforeDays = 14;

function writePrivately(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pemOf(privateKey: KeyObject): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Whether both files are there, belong together and last; with `issuer`, also signed by it. */
function isFresh(certFile: string, keyFile: string, now: Date, issuer?: KeyObject): boolean {
  if (!existsSync(certFile) || !existsSync(keyFile)) return false;
  const certificate = new X509Certificate(readFileSync(certFile));
  if (certificate.validToDate.getTime() < now.getTime() + renewBeforeDays * dayMs) return false;
  if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))) return false;
  return issuer === undefined || certificate.verify(issuer);
}

function openAuthority(certFile: string, keyFile: string, now: Date): CertificateIssuer {
  if (!isFresh(certFile, keyFile, now)) {
    const keys = newKeys();
    const authority = { commonName: authorityName, ...keys };
    const notBefore = new Date(now.getTime() - dayMs);
    const notAfter = new Date(now.getTime() + lifetimeDays.authority * dayMs);
    const request = { commonName: authorityName, publicKey: keys.publicKey, notBefore, notAfter };
    writePrivately(keyFile, pemOf(keys.privateKey));
    writePrivately(certFile, signCertificate({ ...request, role: { kind: 'authority' } }, authority));
  }
  const privateKey = createPrivateKey(readFileSync(keyFile));
  return { commonName: authorityName, privateKey, publicKey: createPublicKey(privateKey) };
}

function makeIdentity(name: string, files: IdentityFiles, authority: CertificateIssuer, now: Date): void {
  const keys = newKeys();
  const certificate = signCertificate(
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
  writePrivately(files.key, pemOf(keys.privateKey));
  writePrivately(files.cert, certificate);
}

/**
 * A private CA in `folder` and one identity per name, for mutual TLS on one machine: EC P-256, 90 days, names
 * `<name>`, `localhost`, 127.0.0.1 and `spiffe://longwave/<name>`. What exists and still lasts is kept.
 * @returns paths by name
 */
export function developmentCa<N extends string>(
  folder: string,
  names: readonly N[],
  now: Date,
): Readonly<Record<N, IdentityFiles>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ca = path.join(folder, 'ca.pem');
  const authority = openAuthority(ca, path.join(folder, 'ca.key'), now);
  const entries = names.map((name) => {
    const files = { ca, cert: path.join(folder, `${name}.pem`), key: path.join(folder, `${name}.key`) };
    if (!isFresh(files.cert, files.key, now, authority.publicKey)) makeIdentity(name, files, authority, now);
    return [name, files] as const;
  });
  return Object.fromEntries(entries) as Record<N, IdentityFiles>;
}
