import { readFileSync } from 'node:fs';
import type { TlsConfig } from '@longwave/service-kit';

/** PEM texts of one service's identity: the private CA, its certificate and key. */
export interface Tls {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Reads the three PEM files. Throws the file system's error when one is missing. */
export function readTls(files: { readonly ca: string; readonly cert: string; readonly key: string }): Tls {
  return { ca: readFileSync(files.ca), cert: readFileSync(files.cert), key: readFileSync(files.key) };
}

/** The identity of a service, from the files that its configuration names. */
export const tlsFromConfig = ({ TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key }: TlsConfig): Tls =>
  readTls({ ca, cert, key });

/** The service named by a certificate's subjectAltName line (`URI:spiffe://longwave/…`), or undefined. */
export function callerOf(subjectAltName: string | undefined): string | undefined {
  return /(?:^|, )URI:spiffe:\/\/longwave\/([a-z-]+)(?:,|$)/.exec(subjectAltName ?? '')?.[1];
}
