import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/** How long an unknown credential is refused without another lookup. */
export const refusedMs = 5_000;
/** How long a credential counts as known after it was accepted: it is never delayed, and its refusal is not remembered. */
const acceptedMs = 60_000;
/** Wrong credentials that an address may send in a minute before the next ones wait. */
export const wrongPerMinute = 60;
const windowMs = 60_000;
/** Time between two lookups for an address that has to wait, and the longest wait of one request. */
const spacingMs = 50;
export const maxWaitMs = 2_000;
/** Entries of each memory; the least recently used one goes first. */
export const maxEntries = 10_000;

/** Looks a credential up that an address has sent, unless it is known to be unknown. */
export type LookUpCredential<T> = (credential: string, address: string, lookUp: () => Promise<T>) => Promise<T>;

interface WrongKeyOptions<T> {
  readonly clock: () => Date;
  /** What an outcome says; `other`: the credential exists and is refused. */
  readonly judge: (outcome: T) => 'accepted' | 'unknown' | 'other';
  /** The outcome for a credential that was unknown a moment ago. */
  readonly unknown: T;
  /** Resolves after so many milliseconds. */
  readonly pause?: (ms: number) => Promise<void>;
}

/**
 * Bounds how often wrong credentials are looked up. An unknown one is refused for 5 s without another lookup. An address that
 * sent more than 60 wrong ones within a minute waits for each further lookup, at most 2 s; credentials that were accepted within the
 * last minute never do. Memory holds SHA-256 digests, never a credential, and is bounded.
 */
export function limitWrongKeys<T>({
  clock,
  judge,
  unknown,
  pause = (ms) => wait(ms),
}: WrongKeyOptions<T>): LookUpCredential<T> {
  /** Digest → until when, in milliseconds. */
  const accepted = new LRUCache<string, number>({ max: maxEntries });
  const refused = new LRUCache<string, number>({ max: maxEntries });
  const senders = new LRUCache<string, { wrong: number; sinceMs: number; nextLookupMs: number }>({ max: maxEntries });
  const holds = (memory: LRUCache<string, number>, digest: string) => (memory.get(digest) ?? 0) > clock().getTime();

  function senderOf(address: string) {
    const now = clock().getTime();
    const known = senders.get(address);
    return known && now - known.sinceMs < windowMs ? known : { wrong: 0, sinceMs: now, nextLookupMs: now };
  }

  function countWrong(address: string): void {
    const sender = senderOf(address);
    sender.wrong += 1;
    senders.set(address, sender);
  }

  async function waitForTurn(address: string): Promise<void> {
    const sender = senderOf(address);
    if (sender.wrong < wrongPerMinute) return;
    const now = clock().getTime();
    sender.nextLookupMs = Math.min(Math.max(sender.nextLookupMs, now) + spacingMs, now + maxWaitMs);
    await pause(sender.nextLookupMs - now);
  }

  return async (credential, address, lookUp) => {
    const digest = createHash('sha256').update(credential).digest('base64');
    if (!holds(accepted, digest)) {
      await waitForTurn(address);
      if (holds(refused, digest)) {
        countWrong(address);
        return unknown;
      }
    }
    const outcome = await lookUp();
    const verdict = judge(outcome);
    if (verdict === 'accepted') {
      accepted.set(digest, clock().getTime() + acceptedMs);
      refused.delete(digest);
    } else if (verdict === 'unknown') {
      countWrong(address);
      if (!holds(accepted, digest)) refused.set(digest, clock().getTime() + refusedMs);
    }
    return outcome;
  };
}
