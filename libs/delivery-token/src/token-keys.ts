import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** What a token may be used for; the number stands inside the token, the name in its additional data. */
export const tokenPurposes = { enc: 1, arr: 2, prs: 3, asl: 4, ada: 5, opp: 6, evt: 7, clk: 8, bnd: 9 } as const;
export type TokenPurpose = keyof typeof tokenPurposes;

/** One master key: `kid` 0–255, 32 bytes. */
export interface MasterKey {
  readonly kid: number;
  readonly key: Buffer;
}

/** The two keys of one purpose under one master key, imported once: that costs as much as a token. */
export interface PurposeKeys {
  readonly seal: KeyObject;
  /** Only for the synthetic nonce. */
  readonly nonce: KeyObject;
}

/** Keys by kid and purpose; the newest mints, all of them open. */
export interface TokenKeys {
  readonly newestKid: number;
  find(kid: number, purpose: TokenPurpose): PurposeKeys | undefined;
  /** Stands in for an unknown key, so that a failure costs as much as a success. */
  dummy(purpose: TokenPurpose): PurposeKeys;
}

const derive = (master: Buffer, info: string) => Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), info, 32));

const deriveKey = (master: Buffer, info: string) => createSecretKey(derive(master, info));

function deriveAll(master: Buffer): Record<TokenPurpose, PurposeKeys> {
  const entries = (Object.keys(tokenPurposes) as TokenPurpose[]).map((purpose) => [
    purpose,
    {
      seal: deriveKey(master, `longwave t1 seal ${purpose}`),
      nonce: deriveKey(master, `longwave t1 nonce ${purpose}`),
    },
  ]);
  return Object.fromEntries(entries) as Record<TokenPurpose, PurposeKeys>;
}

/**
 * Derives the keys of every purpose by HKDF-SHA-256 (RFC 5869), so that a token of one purpose never opens as another.
 * @param masters the newest first
 * Throws `RangeError` when there is none, a kid occurs twice or a key has not 32 bytes.
 */
export function createTokenKeys(masters: readonly MasterKey[]): TokenKeys {
  const [newest] = masters;
  if (!newest) throw new RangeError('at least one master key is needed');
  const byKid = new Map<number, Record<TokenPurpose, PurposeKeys>>();
  for (const { kid, key } of masters) {
    if (!Number.isInteger(kid) || kid < 0 || kid > 255) throw new RangeError('a kid lies between 0 and 255');
    if (key.length !== 32) throw new RangeError('a master key has 32 bytes');
    if (byKid.has(kid)) throw new RangeError(`kid ${kid} occurs twice`);
    byKid.set(kid, deriveAll(key));
  }
  const spare = deriveAll(derive(newest.key, 'longwave t1 dummy'));
  return {
    newestKid: newest.kid,
    find: (kid, purpose) => byKid.get(kid)?.[purpose],
    dummy: (purpose) => spare[purpose],
  };
}
