import { productCatalog } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import {
  createCommandExecutor,
  createReceiptSigner,
  type Actor,
  type CommandOutcome,
  type CommandRequest,
  type ExecuteCommand,
  subjectOf,
} from '../src/index.ts';

const { advertisers } = productCatalog.resources;

/** The part of the catalog whose commands need no rule. */
const storeCatalog = {
  resources: { advertisers },
  commands: {
    'advertiser.create': productCatalog.commands['advertiser.create'],
    'advertiser.revise': productCatalog.commands['advertiser.revise'],
  },
} as const;

const operator: Actor = { kind: 'service', name: 'operator' };

const advertiserChanges = {
  legal_name: 'Tidewater Tea Ltd',
  brands: [{ id: 'a', name: 'Tidewater', domain: 'tidewater.example' }],
  ad_product_categories: [],
};

/** The versioned store over a real database, with an executor of some commands. */
export interface TestStore extends AsyncDisposable {
  readonly pool: Pool;
  /** The database as superuser. */
  readonly admin: Pool;
  readonly execute: ExecuteCommand;
  readonly publicKey: JWK;
  /** Sends a command as the operator, under a fresh key unless the request names one. */
  readonly send: (
    request: Pick<CommandRequest, 'workspaceId' | 'commandType' | 'subject'> & Partial<CommandRequest>,
  ) => Promise<CommandOutcome>;
  readonly create: (
    workspaceId: string,
    idempotencyKey?: string,
  ) => Promise<CommandOutcome & { readonly resource: ResourceView }>;
  readonly catalog: typeof storeCatalog;
  readonly database: DatabaseUrls;
}

type DatabaseUrls = Pick<TestDatabase, 'url' | 'adminUrl'>;

export async function startTestStore(): Promise<TestStore> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' }));
  const store = stack.use(await openTestStore(database));
  const owned = stack.move();
  return { ...store, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The store of a database that runs. */
export async function openTestStore(database: DatabaseUrls): Promise<TestStore> {
  await using stack = new AsyncDisposableStack();
  const open = (url: string, max: number) =>
    stack.adopt(createPool(url, 'product', { name: 'test', max }), (each) => each.end());
  const pool = open(database.url, 20);
  const admin = open(database.adminUrl, 4);
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const execute = createCommandExecutor({
    pool,
    catalog: storeCatalog,
    rules: {},
    signReceipt: createReceiptSigner({ ...(await exportJWK(privateKey)), kid: 'receipts-1' }),
    clock: () => new Date(),
  });
  const send: TestStore['send'] = (request) =>
    execute({ idempotencyKey: newId('req'), changes: {}, ...request }, operator);
  const owned = stack.move();
  return {
    pool,
    admin,
    execute,
    catalog: storeCatalog,
    database,
    publicKey: { ...(await exportJWK(publicKey)), kid: 'receipts-1' },
    send,
    create: async (workspaceId, idempotencyKey = newId('req')) => {
      const outcome = await send({
        workspaceId,
        commandType: 'advertiser.create',
        idempotencyKey,
        subject: { type: 'advertisers', id: null, version: 0 },
        changes: advertiserChanges,
      });
      return { ...outcome, resource: subjectOf(outcome) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
