import { generateKeyPair, exportJWK } from 'jose';
import { productCatalog } from '@longwave/command-catalog';
import {
  createCommandExecutor,
  createReceiptSigner,
  type Actor,
  type ExecuteCommand,
} from '@longwave/command-pipeline';
import { startTestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';

const catalog = {
  resources: { advertisers: productCatalog.resources.advertisers },
  commands: { 'advertiser.create': productCatalog.commands['advertiser.create'] },
} as const;
const actor: Actor = { kind: 'service', name: 'operator' };
const changes = {
  legal_name: 'Tidewater Tea Ltd',
  brands: [{ id: 'a', name: 'Tidewater', domain: 'tidewater.example' }],
  ad_product_categories: [],
};

/** The pipeline over a database of its own, for one command that has no rule. */
export async function startCommandSender() {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' }));
  const pool = stack.adopt(createPool(database.url, 'product', { name: 'bench', max: 16 }), (it) => it.end());
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const signReceipt = createReceiptSigner(await exportJWK(privateKey));
  /** Sends commands through this pool. */
  const senderOver = (over: Pool) => {
    const execute: ExecuteCommand = createCommandExecutor({
      ...{ catalog, rules: {}, signReceipt, clock: () => new Date() },
      pool: over,
    });
    return (workspaceId: string) =>
      execute(
        {
          workspaceId,
          commandType: 'advertiser.create',
          idempotencyKey: newId('req'),
          subject: { type: 'advertisers', id: null, version: 0 },
          changes,
        },
        actor,
      );
  };
  const running = stack.move();
  return { pool, senderOver, send: senderOver(pool), [Symbol.asyncDispose]: () => running.disposeAsync() };
}
