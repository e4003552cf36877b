import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { writePrivately } from './write-privately.ts';

/** From now on this process trusts an authority (a PEM file) besides those that it trusts already, as `NODE_EXTRA_CA_CERTS` would have it. */
export function trustAuthority(file: string): void {
  tls.setDefaultCACertificates([...new Set([...tls.getCACertificates('default'), readFileSync(file, 'utf8')])]);
}

/**
 * The PEM file of those who sign for the engines: of this machine, or elsewhere, or both.
 * @param joined path of the file that is written for both
 */
export function joinAuthorities(
  here: string | undefined,
  elsewhere: string | undefined,
  joined: string,
): string | undefined {
  if (here === undefined || elsewhere === undefined) return here ?? elsewhere;
  writePrivately(joined, [here, elsewhere].map((file) => readFileSync(file, 'utf8')).join('\n'));
  return joined;
}
