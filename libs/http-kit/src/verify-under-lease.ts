import { hash, randomUUID } from 'node:crypto';
import type { RpcClient } from '@longwave/rpc';
import type { CredentialServiceService, VerifyRequest, VerifyResponse } from '@longwave/rpc/credential';
import { pollLoop } from '@longwave/worker-kit';
import { createLeasedMemory } from './leased-memory.ts';

/** Principals that are kept, and the length of their statements: a person with a hundred grants has a long one. */
const maxAnswers = 5_000;
const maxBytes = 32 << 20;
/** How long auth-server may take to verify a credential. */
const verifyMs = 5_000;
/** Without requests for this time nothing is kept, and changes are not followed. */
const idleMs = 10_000;
/** From one attempt to follow changes to the next one. */
const retryMs = 1_000;
/** How long auth-server may hold a call about changes. */
const followMs = 2_000;

type Outcome = VerifyResponse['outcome'];

export interface Verifier extends AsyncDisposable {
  /** What auth-server says of a credential. Rejects with its problem. */
  readonly verify: (request: VerifyRequest) => Promise<Outcome>;
}

/**
 * Verifies credentials at auth-server, and keeps principals for as long as it is certain that nothing has changed: under a lease of some
 * hundred milliseconds, which auth-server renews while it tells of changes (docs/adr/0051). Without one it asks for each request. Memory
 * holds SHA-256 digests, never a credential, and is bounded.
 * @param onError receives the first of the failures to follow changes in a row
 */
export function verifyUnderLease(
  credentials: Pick<RpcClient<typeof CredentialServiceService>, 'verify' | 'followChanges'>,
  onError: (error: unknown) => void,
): Verifier {
  let holder = randomUUID();
  const memory = createLeasedMemory<Outcome>({
    ...{ maxAnswers, maxBytes },
    sizeOf: (outcome) => (outcome?.$case === 'principal' ? outcome.value.statement.length : 0),
    now: () => performance.now(),
  });
  let usedAt = -Infinity;
  let state: 'idle' | 'following' | 'failing' = 'idle';

  async function leave(): Promise<void> {
    memory.end();
    if (state !== 'following') return;
    state = 'idle';
    const left = holder;
    // A leave that arrives late must not end a lease that was given since.
    holder = randomUUID();
    await credentials.followChanges({ holder: left, acknowledged: 0n, leaving: true }, { deadlineMs: followMs });
  }

  const loop = pollLoop({
    everyMs: retryMs,
    sleepsFirst: true,
    run: async (signal) => {
      const sentAt = performance.now();
      if (sentAt - usedAt > idleMs) return void (await leave());
      const request = { holder, acknowledged: memory.position(), leaving: false };
      const news = await credentials.followChanges(request, { deadlineMs: followMs, signal });
      memory.renew(sentAt + news.leaseMs, news);
      state = 'following';
      return true;
    },
    onError: (error) => {
      if (state !== 'failing') onError(error);
      state = 'failing';
    },
  });

  return {
    verify: async (request) => {
      const askedAt = performance.now();
      usedAt = askedAt;
      const key = hash('sha256', `${request.api} ${request.carrier} ${request.credential}`, 'base64');
      const kept = memory.find(key);
      if (kept) return kept;
      if (state === 'idle') loop.wake();
      const { outcome, keepMs, position } = await credentials.verify(request, { deadlineMs: verifyMs });
      if (outcome?.$case === 'principal' && keepMs > 0)
        memory.keep(key, {
          ...{ value: outcome, accountId: outcome.value.accountId, endsAt: askedAt + keepMs, known: position },
        });
      return outcome;
    },
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await leave().catch(() => undefined);
    },
  };
}
