/**
 * Loaded before a service (`--import`), it lets the process find the host names of `TEST_PUBLIC_HOSTS` on this machine, as the name server of a
 * real domain would, and trust the authority of `TEST_PUBLIC_CA` too, as public ones are trusted.
 */
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import tls from 'node:tls';

/**
 * @param {readonly string[]} names
 * @returns {() => void} takes it back
 */
export function reachHosts(names) {
  const { lookup } = dns;
  const promised = dns.promises.lookup;
  const placeOf = (name) => (names.includes(name) ? '127.0.0.1' : name);
  dns.lookup = (name, ...rest) => lookup(placeOf(name), ...rest);
  dns.promises.lookup = (name, ...rest) => promised(placeOf(name), ...rest);
  syncBuiltinESMExports();
  return () => {
    dns.lookup = lookup;
    dns.promises.lookup = promised;
    syncBuiltinESMExports();
  };
}

const { TEST_PUBLIC_HOSTS: names, TEST_PUBLIC_CA: authority } = process.env;
if (names && authority) {
  reachHosts(names.split(','));
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(authority, 'utf8')]);
}
