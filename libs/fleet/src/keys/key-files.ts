import { generateKeyPairSync, randomBytes, type JsonWebKey, type KeyPairKeyObjectResult } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeJsonPrivately } from '../write-privately.ts';

/** The keys that services read from files. */
export type KeyFileName = 'access-tokens' | 'principals' | 'receipts' | 'second-factors';

interface KeyFile {
  /** The file whose first key is used, and whose others still work. */
  readonly own: string;
  /** The file with the public keys of the above, which other services verify by. */
  readonly shared?: string;
  /** Whether the file holds one key alone, as a JWK. */
  readonly isSingle?: true;
  readonly kid: string;
  readonly make: () => { readonly own: JsonWebKey; readonly shared?: JsonWebKey };
}

const signingPair = ({ privateKey, publicKey }: KeyPairKeyObjectResult, alg: 'EdDSA' | 'ES256') => ({
  own: { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg },
  shared: { ...publicKey.export({ format: 'jwk' }), use: 'sig', alg },
});
/** Ed25519 (RFC 8037). */
const ed25519 = () => signingPair(generateKeyPairSync('ed25519'), 'EdDSA');

const keyFiles: Readonly<Record<KeyFileName, KeyFile>> = {
  'access-tokens': {
    own: 'access-token-signing.jwks.json',
    shared: 'access-token-keys.jwks.json',
    kid: 'access',
    make: () => signingPair(generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'ES256'),
  },
  principals: {
    own: 'principal-private.jwk.json',
    shared: 'principal-keys.jwks.json',
    kid: 'principal',
    make: ed25519,
  },
  // Services save its public part in their database, so the one before need not stay.
  receipts: { own: 'receipt-signing.jwk.json', isSingle: true, kid: 'receipt', make: ed25519 },
  'second-factors': {
    own: 'second-factor-keys.jwks.json',
    kid: 'second-factor',
    // 256 bits (RFC 7518, section 6.4).
    make: () => ({ own: { kty: 'oct', alg: 'A256GCM', k: randomBytes(32).toString('base64url') } }),
  },
};
export const keyFileNames = Object.keys(keyFiles) as KeyFileName[];

/** Paths of the files of a key; the second one is there where others verify. */
export function keyPaths(folder: string, name: KeyFileName): { readonly own: string; readonly shared: string } {
  const { own, shared = own } = keyFiles[name];
  return { own: path.join(folder, own), shared: path.join(folder, shared) };
}

/** The keys of a file (a JWKS, or one JWK), the newest first; none when there is no file. */
export function readKeys(file: string): readonly JsonWebKey[] {
  if (!existsSync(file)) return [];
  const read = JSON.parse(readFileSync(file, 'utf8')) as JsonWebKey & { readonly keys?: readonly JsonWebKey[] };
  return read.keys ?? [read];
}

function write(file: string, keys: readonly JsonWebKey[], isSingle: true | undefined): void {
  writeJsonPrivately(file, isSingle ? keys[0] : { keys });
}

function makeKey(name: KeyFileName) {
  const { kid: prefix, make } = keyFiles[name];
  const made = make();
  const kid = `${prefix}-${randomBytes(6).toString('hex')}`;
  return { kid, own: { ...made.own, kid }, ...(made.shared && { shared: { ...made.shared, kid } }) };
}

/** Makes the first key of a file, where there is none. */
export function ensureKey(folder: string, name: KeyFileName): void {
  const { own, shared } = keyPaths(folder, name);
  if (readKeys(own).length > 0 && existsSync(shared)) return;
  const made = makeKey(name);
  if (made.shared) write(shared, [made.shared], undefined);
  write(own, [made.own], keyFiles[name].isSingle);
}

/**
 * Makes a key the first one of its file; those before stay behind it, where the file holds several. Others learn the public part first:
 * nothing is signed by a key that nobody can look up. Answers its `kid`.
 * @param pauseMs how long those who verify may take to notice a changed file
 */
export async function addKey(folder: string, name: KeyFileName, pauseMs: number): Promise<string> {
  const { own, shared } = keyPaths(folder, name);
  const made = makeKey(name);
  if (made.shared && shared !== own) {
    write(shared, [made.shared, ...readKeys(shared)], undefined);
    await sleep(pauseMs);
  }
  write(own, [made.own, ...readKeys(own)], keyFiles[name].isSingle);
  return made.kid;
}

/** Keys, the newest first, without so many of the oldest; the newest always stays. */
export const withoutOldest = <Key>(keys: readonly Key[], count: number): readonly Key[] =>
  keys.slice(0, Math.max(1, keys.length - count));

/** Takes the oldest keys out of the files of a key: first nobody uses them any more, then nobody knows them. */
export async function dropKeys(folder: string, name: KeyFileName, count: number, pauseMs: number): Promise<void> {
  const { own, shared } = keyPaths(folder, name);
  write(own, withoutOldest(readKeys(own), count), undefined);
  if (shared === own) return;
  await sleep(pauseMs);
  const kids = readKeys(own).map((key) => key['kid']);
  write(
    shared,
    readKeys(shared).filter((key) => kids.includes(key['kid'])),
    undefined,
  );
}
