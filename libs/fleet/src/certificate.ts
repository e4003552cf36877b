import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export type Keys = webcrypto.CryptoKeyPair;

export interface CertificateRequest {
  readonly commonName: string;
  readonly publicKey: webcrypto.CryptoKey;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The rights of the holder: sign other certificates, or be a TLS server and client under these names. */
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
  readonly keys: Keys;
}

const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };

function roleExtensions({ role }: CertificateRequest): x509.Extension[] {
  if (role.kind === 'authority')
    return [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ];
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
    new x509.SubjectAlternativeNameExtension([
      ...role.dnsNames.map((value) => ({ type: 'dns' as const, value })),
      { type: 'url' as const, value: role.uri },
      ...role.ipv4.map((value) => ({ type: 'ip' as const, value })),
    ]),
  ];
}

/** An X.509 v3 certificate (RFC 5280) as PEM. */
export async function signCertificate(request: CertificateRequest, issuer: CertificateIssuer): Promise<string> {
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x40; // positive, without leading zeros
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: serial.toString('hex'),
      subject: `CN=${request.commonName}`,
      issuer: `CN=${issuer.commonName}`,
      notBefore: request.notBefore,
      notAfter: request.notAfter,
      publicKey: request.publicKey,
      signingKey: issuer.keys.privateKey,
      signingAlgorithm,
      extensions: [
        ...roleExtensions(request),
        await x509.SubjectKeyIdentifierExtension.create(request.publicKey, false, webcrypto),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return `${certificate.toString('pem')}\n`;
}
