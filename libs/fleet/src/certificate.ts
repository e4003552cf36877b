import { createHash, randomBytes, sign, type KeyObject } from 'node:crypto';
import { bits, boolean, context, integer, octets, oid, sequence, set, time, utf8 } from './der.ts';

const ids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
};

export interface CertificateRequest {
  readonly commonName: string;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** What the holder may do: sign other certificates, or be a TLS server and client under these names. */
  readonly role:
    | { readonly kind: 'authority' }
    | {
        readonly kind: 'service';
        readonly dnsNames: readonly string[];
        readonly ipv4: readonly string[];
        readonly uri: string;
      };
}

export interface CertificateIssuer {
  readonly commonName: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const distinguishedName = (commonName: string) => sequence(set(sequence(oid(ids.commonName), utf8(commonName))));
/** SHA-1 of the public key's bits (RFC 5280 §4.2.1.2 method 1); P-256's stand in the last 65 bytes. */
const keyIdentifier = (key: KeyObject) => createHash('sha1').update(spki(key).subarray(-65)).digest();

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
}

function roleExtensions({ role }: CertificateRequest): readonly Buffer[] {
  if (role.kind === 'authority')
    return [
      extension(ids.basicConstraints, true, sequence(boolean(true), integer(Buffer.from([0])))),
      extension(ids.keyUsage, true, bits(Buffer.from([0b00000110]), 1)), // keyCertSign, cRLSign
    ];
  const names = [
    ...role.dnsNames.map((name) => context(2, Buffer.from(name, 'ascii'), false)),
    context(6, Buffer.from(role.uri, 'ascii'), false),
    ...role.ipv4.map((address) => context(7, Buffer.from(address.split('.').map(Number)), false)),
  ];
  return [
    extension(ids.basicConstraints, true, sequence()),
    extension(ids.keyUsage, true, bits(Buffer.from([0b10000000]), 7)), // digitalSignature
    extension(ids.extendedKeyUsage, false, sequence(oid(ids.serverAuth), oid(ids.clientAuth))),
    extension(ids.subjectAltName, false, sequence(...names)),
  ];
}

/** An X.509 v3 certificate (RFC 5280) over a P-256 key, signed with ECDSA and SHA-256, as PEM. */
export function signCertificate(request: CertificateRequest, issuer: CertificateIssuer): string {
  const algorithm = sequence(oid(ids.ecdsaWithSha256));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40; // positive, without leading zeros
  const extensions = [
    ...roleExtensions(request),
    extension(ids.subjectKeyIdentifier, false, octets(keyIdentifier(request.publicKey))),
    extension(ids.authorityKeyIdentifier, false, sequence(context(0, keyIdentifier(issuer.publicKey), false))),
  ];
  const body = sequence(
    context(0, integer(Buffer.from([2])), true),
    integer(serial),
    algorithm,
    distinguishedName(issuer.commonName),
    sequence(time(request.notBefore), time(request.notAfter)),
    distinguishedName(request.commonName),
    spki(request.publicKey),
    context(3, sequence(...extensions), true),
  );
  const certificate = sequence(body, algorithm, bits(sign('sha256', body, issuer.privateKey)));
  const lines = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
