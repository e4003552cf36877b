import { readFileSync } from 'node:fs';
import tls from 'node:tls';

/** From now on this process trusts an authority (a PEM file) besides those that it trusts already, as `NODE_EXTRA_CA_CERTS` would have it. */
export function trustAuthority(file: string): void {
  tls.setDefaultCACertificates([...new Set([...tls.getCACertificates('default'), readFileSync(file, 'utf8')])]);
}
