import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsConfig } from '@longwave/service-kit';

/** PEM texts of one service's identity: the private CA, its certificate and key. */
export interface Tls {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Calls the listener with the identity that replaces this one, whenever it changes; answers how to stop. Without it, it never does. */
  readonly follow?: (listener: (changed: Tls) => void) => () => void;
}

interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Reads the three PEM files. Throws the file system's error when one is missing. */
export function readTls(files: TlsFiles): Tls {
  return { ca: readFileSync(files.ca), cert: readFileSync(files.cert), key: readFileSync(files.key) };
}

/** The identity in these files; undefined while somebody is replacing them: one is not there yet, or the key is of another certificate. */
function tryReadTls(files: TlsFiles): Tls | undefined {
  try {
    const tls = readTls(files);
    createSecureContext(tls);
    return tls;
  } catch {
    return undefined;
  }
}

const isSame = (one: Tls, other: Tls) =>
  one.ca.equals(other.ca) && one.cert.equals(other.cert) && one.key.equals(other.key);

/**
 * Reads the three PEM files, and reads them again every `everyMs` for those who follow; they are told of a whole identity only.
 * Throws the file system's error when one is missing at first.
 */
export function followTls(files: TlsFiles, everyMs: number): Tls {
  const first = readTls(files);
  const listeners = new Set<(changed: Tls) => void>();
  let latest = first;
  let timer: NodeJS.Timeout | undefined;
  const readAgain = () => {
    const found = tryReadTls(files);
    if (!found || isSame(found, latest)) return;
    latest = found;
    for (const listener of listeners) listener(found);
  };
  return {
    ...first,
    follow: (listener) => {
      listeners.add(listener);
      timer ??= setInterval(readAgain, everyMs).unref();
      if (latest !== first) listener(latest);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

/** The identity of a service, from the files that its configuration names; replaced files are taken up within 10 s. */
export const tlsFromConfig = ({ TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key }: TlsConfig): Tls =>
  followTls({ ca, cert, key }, 10_000);

/** The service named by a certificate's subjectAltName line (`URI:spiffe://longwave/…`), or undefined. */
export function callerOf(subjectAltName: string | undefined): string | undefined {
  return /(?:^|, )URI:spiffe:\/\/longwave\/([a-z-]+)(?:,|$)/.exec(subjectAltName ?? '')?.[1];
}
