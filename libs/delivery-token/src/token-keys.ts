import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** The uses of tokens. The number stands inside the token, the name in its additional data. */
export const tokenPurposes = {
  enc: 1,
  arr: 2,
  prs: 3,
  asl: 4,
  ada: 5,
  opp: 6,
  evt: 7,
  clk: 8,
  bnd: 9,
  prv: 10,
} as const;
export type TokenPurpose = keyof typeof tokenPurposes;

/** The longest life of a token, in seconds: 180 days. Its key is kept as long. */
export const maxTokenLife = 180 * 86_400;

const weekSeconds = 7 * 86_400;

/** The week since 1970-01-01 (UTC, so weeks begin on Thursdays) of a time in Unix seconds. Each has keys of its own. */
export const keyWeek = (at: number): number => Math.floor(at / weekSeconds);

/** The key id that a token shows: its week modulo 256, which is unique within nearly five years. */
export const kidOf = (week: number): number => week & 255;

/** The two keys of one purpose in one week, imported once, because an import costs as much as a token. */
export interface PurposeKeys {
  readonly seal: KeyObject;
  /** Only for the synthetic nonce. */
  readonly nonce: KeyObject;
}

/** The keys of every week and purpose. */
export interface TokenKeys {
  /** Of the newest secret. */
  minting(week: number, purpose: TokenPurpose): PurposeKeys;
  /**
   * One per secret, the newest first, of the only week with this kid among those that hold at `now` (Unix seconds): back to the
   * longest life of a token, and the coming week for clocks that run ahead. For any other kid as many keys that open nothing,
   * so that a failure costs as much.
   */
  opening(
    kid: number,
    purpose: TokenPurpose,
    now: number,
  ): { readonly known: boolean; readonly keys: readonly PurposeKeys[] };
}

type WeekKeys = Readonly<Record<TokenPurpose, PurposeKeys>>;

/** Derived weeks that are kept in memory, for all secrets together. */
const maxKeptWeeks = 512;

const derive = (secret: Buffer, info: string) => Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), info, 32));

const deriveKey = (secret: Buffer, info: string) => createSecretKey(derive(secret, info));

function deriveAll(master: Buffer): WeekKeys {
  const entries = (Object.keys(tokenPurposes) as TokenPurpose[]).map((purpose) => [
    purpose,
    {
      seal: deriveKey(master, `longwave t1 seal ${purpose}`),
      nonce: deriveKey(master, `longwave t1 nonce ${purpose}`),
    },
  ]);
  return Object.fromEntries(entries) as WeekKeys;
}

/**
 * Derives keys by HKDF-SHA-256 (RFC 5869): secret → week → purpose, so that keys change each week by themselves and a token of one
 * purpose never opens as another.
 * @param secrets 32 bytes each, the newest first: it mints, all of them open
 * @param epochOf how often the keys of a week were revoked; each time it gets others, and the ones before open nothing
 * Throws `RangeError` when there is no secret, one occurs twice or has not 32 bytes.
 */
export function createTokenKeys(secrets: readonly Buffer[], epochOf: (week: number) => number = () => 0): TokenKeys {
  const [newest] = secrets;
  if (!newest) throw new RangeError('at least one secret is needed');
  if (secrets.some((secret) => secret.length !== 32)) throw new RangeError('a secret has 32 bytes');
  if (new Set(secrets.map((secret) => secret.toString('hex'))).size < secrets.length)
    throw new RangeError('a secret occurs twice');

  const derived = new Map<string, WeekKeys>();
  const keysOf = (secret: Buffer, place: number, week: number): WeekKeys => {
    const epoch = epochOf(week);
    const name = `${place} ${week}.${epoch}`;
    const known = derived.get(name);
    if (known) return known;
    if (derived.size >= maxKeptWeeks) derived.clear();
    const keys = deriveAll(derive(secret, `longwave t1 week ${week}${epoch > 0 ? `.${epoch}` : ''}`));
    derived.set(name, keys);
    return keys;
  };
  const dummies = secrets.map((secret) => deriveAll(derive(secret, 'longwave t1 dummy')));

  return {
    minting: (week, purpose) => keysOf(newest, 0, week)[purpose],
    opening: (kid, purpose, now) => {
      const latest = keyWeek(now) + 1;
      const week = latest - kidOf(latest - kid);
      const known = week >= keyWeek(now - maxTokenLife);
      const keys = known ? secrets.map((secret, place) => keysOf(secret, place, week)) : dummies;
      return { known, keys: keys.map((each) => each[purpose]) };
    },
  };
}

/** The keys of the secrets that `secrets` answers now; it answers the same list as long as nothing changed. See `createTokenKeys`. */
export function followTokenKeys(secrets: () => readonly Buffer[], epochOf?: (week: number) => number): TokenKeys {
  let followed = secrets();
  let keys = createTokenKeys(followed, epochOf);
  const now = () => {
    const found = secrets();
    if (found === followed) return keys;
    followed = found;
    keys = createTokenKeys(found, epochOf);
    return keys;
  };
  return {
    minting: (...of) => now().minting(...of),
    opening: (...of) => now().opening(...of),
  };
}
