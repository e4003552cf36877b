import { createPrivateKey, createPublicKey, webcrypto, X509Certificate, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writePrivately } from './write-privately.ts';
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
const renewBeforeDays = 30;

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

/** Paths of the authority: its certificates, the one that signs first, and the key of that one. */
const authorityFiles = (folder: string) => ({ ca: path.join(folder, 'ca.pem'), key: path.join(folder, 'ca.key') });

/** The certificates of a file, in its order. */
const certificatesOf = (file: string): readonly string[] =>
  readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];

/** Makes an authority that signs from now on. Those before stay trusted. */
async function makeAuthority(folder: string, now: Date, former: readonly string[]): Promise<void> {
  const { ca, key } = authorityFiles(folder);
  const keys = await newKeys();
  const notBefore = new Date(now.getTime() - dayMs);
  const notAfter = new Date(now.getTime() + lifetimeDays.authority * dayMs);
  const request = { commonName: authorityName, publicKey: keys.publicKey, notBefore, notAfter };
  const certificate = await sign({ ...request, role: { kind: 'authority' } }, { commonName: authorityName, keys });
  writePrivately(key, await pemOf(keys.privateKey));
  writePrivately(ca, [certificate, ...former].join(''));
}

async function openAuthority(folder: string, now: Date): Promise<CertificateIssuer> {
  const { ca, key } = authorityFiles(folder);
  if (!isFresh(ca, key, now)) await makeAuthority(folder, now, []);
  return { commonName: authorityName, keys: await readKeys(key) };
}

/** Makes another authority, which signs the next certificates. The one before stays trusted, and so do the certificates that it signed. */
export const addAuthority = (folder: string, now: Date): Promise<void> =>
  makeAuthority(folder, now, certificatesOf(authorityFiles(folder).ca));

/** Ends the trust in every authority but the newest. */
export function dropFormerAuthorities(folder: string): void {
  const { ca } = authorityFiles(folder);
  writePrivately(ca, certificatesOf(ca)[0]!);
}

/** How many authorities are trusted; none before the first start. */
export function countAuthorities(folder: string): number {
  const { ca } = authorityFiles(folder);
  return existsSync(ca) ? certificatesOf(ca).length : 0;
}

/** The certificates of a folder that the authority of now did not sign, by the name of their holder. */
export function signedByFormerAuthority(folder: string, names: readonly string[]): readonly string[] {
  const authorityKey = createPublicKey(readFileSync(authorityFiles(folder).key));
  return names.filter((name) => {
    const file = path.join(folder, `${name}.pem`);
    return existsSync(file) && !new X509Certificate(readFileSync(file)).verify(authorityKey);
  });
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
 * `<name>`, `localhost`, 127.0.0.1 and `spiffe://longwave/<name>`. Existing certificates that last for 30 days more are kept.
 * @param renewAll makes every certificate anew
 * @returns paths by name
 */
export async function developmentCa<N extends string>(
  folder: string,
  names: readonly N[],
  now: Date,
  { renewAll = false }: { readonly renewAll?: boolean } = {},
): Promise<Readonly<Record<N, IdentityFiles>>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authority = await openAuthority(folder, now);
  const { ca, key } = authorityFiles(folder);
  const authorityKey = createPublicKey(readFileSync(key));
  const identities: Partial<Record<N, IdentityFiles>> = {};
  for (const name of names) {
    const files = { ca, cert: path.join(folder, `${name}.pem`), key: path.join(folder, `${name}.key`) };
    if (renewAll || !isFresh(files.cert, files.key, now, authorityKey)) await makeIdentity(name, files, authority, now);
    identities[name] = files;
  }
  return identities as Record<N, IdentityFiles>;
}
