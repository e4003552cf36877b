import type { Pool } from '@longwave/postgres';
import { pollLoop } from '@longwave/worker-kit';
import type { JWK } from 'jose';
import { listReceiptKeys, saveReceiptKeys } from './receipt-key-table.ts';

/** How long a key of another process stays unknown. Caches may keep the published keys for longer. */
const pollMs = 60_000;

/** The public keys that receipts and checkpoints are verified with: the present one, and those before it. */
export interface ReceiptKeys extends AsyncDisposable {
  /** As they are published, the present one first; without the earlier ones until the database has been read. */
  list(): readonly JWK[];
  /** Whether those before it have been read, and those of another service. Until then nobody should keep the list. */
  isComplete(): boolean;
  /** Resolves when the database has been read once, or could not be. The keys of another service may come later. */
  readonly ready: Promise<void>;
}

/**
 * Saves the public part of a signing key, so that it stays published after a rotation, and reads those that were saved before.
 * @param findFurther keys of another service that are published too
 */
export function keepReceiptKeys({
  pool,
  present,
  findFurther = async () => [],
  onError,
}: {
  readonly pool: Pool;
  /** The public part of the key that signs now. */
  readonly present: () => JWK;
  readonly findFurther?: () => Promise<readonly JWK[]>;
  readonly onError: (error: unknown) => void;
}): ReceiptKeys {
  let saved: readonly JWK[] = [];
  let isComplete = false;
  const { promise: ready, resolve } = Promise.withResolvers<void>();

  async function read(): Promise<void> {
    saved = await listReceiptKeys(pool);
  }
  const loop = pollLoop({
    everyMs: pollMs,
    run: async () => {
      try {
        await saveReceiptKeys(pool, [present()]);
        await read();
      } finally {
        resolve();
      }
      const further = await findFurther();
      if (further.length > 0) {
        await saveReceiptKeys(pool, further);
        await read();
      }
      isComplete = true;
    },
    onError,
  });
  return {
    list: () => {
      const key = present();
      return [key, ...saved.filter(({ kid, x }) => kid !== key.kid || x !== key.x)];
    },
    isComplete: () => isComplete,
    ready,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}
