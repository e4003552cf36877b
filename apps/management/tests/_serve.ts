import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { productCatalog } from '@longwave/command-catalog';
import { createReceiptLog, createResourceReader, keepReceiptKeys, publicReceiptKey } from '@longwave/command-pipeline';
import { developmentCa } from '@longwave/fleet';
import { signPrincipal, type Principal } from '@longwave/principal';
import { openChannel, readTls, serveRpc } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import {
  EncodingQueueServiceService,
  EncodingTimeServiceService,
  OperationServiceService,
  ResourceServiceService,
} from '@longwave/rpc/resource';
import { ReceiptServiceService } from '@longwave/rpc/receipt';
import { UploadServiceService } from '@longwave/rpc/upload';
import { exportJWK, generateKeyPair } from 'jose';
import { createAccess } from '../src/workspace/access/access.ts';
import { createPreviewFeed } from '../src/hosting/imports/preview-feed.ts';
import { createFindQueuePlace } from '../src/background/queue-forecast.ts';
import { managementServices } from '../src/rpc/server.ts';
import { createSignExport } from '../src/hosting/statistics-exports/sign-export.ts';
import { createUploadSigner } from '../src/workspace/uploads/sign-upload.ts';
import { createListDeliveries } from '../src/workspace/webhooks/delivery-list-table.ts';
import type { TestManagement } from './_management.ts';

/** Management's gRPC services on a real socket, and a gateway that calls them for people. */
export async function serveManagement({ pool, store, execute, clock, fetch, receiptKey }: TestManagement) {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'management-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const identities = await developmentCa(folder, ['management', 'rest-gateway', 'hosting-exchange'], new Date());
  const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const signingKey = await exportJWK(pair.privateKey);
  const reader = stack.use(
    createResourceReader({ pool, schema: 'product', catalog: productCatalog, cursorKey: randomBytes(32), clock }),
  );
  const access = createAccess(pool);
  const receiptKeys = stack.use(
    keepReceiptKeys({ pool, present: () => publicReceiptKey(receiptKey), onError: () => undefined }),
  );
  await receiptKeys.ready;
  const server = await serveRpc({
    listen: '127.0.0.1:0',
    tls: readTls(identities.management),
    services: managementServices({
      ...{ pool, execute, reader, access, clock, leaseMs: 30_000 },
      uploads: createUploadSigner(pool, store, clock),
      signExport: createSignExport(pool, store, clock),
      findQueuePlace: createFindQueuePlace(pool),
      checkLiveFeed: async () => ({ feedUrl: 'http://media.test/feeds/x.xml', findings: [] }),
      awaitFeed: async () => true,
      previewFeed: createPreviewFeed(fetch),
      listDeliveries: createListDeliveries(pool),
      receipts: createReceiptLog(pool),
      receiptKeys,
      principalKeys: [await exportJWK(pair.publicKey)],
    }),
    onError: (error) => {
      throw error;
    },
  });
  stack.defer(() => server.close());
  const channel = openChannel(`127.0.0.1:${server.port}`, 'management', readTls(identities['rest-gateway']));
  stack.defer(() => channel.close());
  const exchange = openChannel(`127.0.0.1:${server.port}`, 'management', readTls(identities['hosting-exchange']));
  stack.defer(() => exchange.close());
  const running = stack.move();
  return {
    access,
    /** Call options with the person's signed statement. */
    speaksFor: async (principal: Principal) => ({
      principalStatement: await signPrincipal(principal, signingKey, clock()),
    }),
    commands: channel.client(CommandServiceService),
    resources: channel.client(ResourceServiceService),
    operations: channel.client(OperationServiceService),
    uploads: channel.client(UploadServiceService),
    encodingTime: channel.client(EncodingTimeServiceService),
    encodingQueue: channel.client(EncodingQueueServiceService),
    /** The same for hosting-exchange, which calls as itself. */
    exchange: {
      commands: exchange.client(CommandServiceService),
      operations: exchange.client(OperationServiceService),
      receipts: exchange.client(ReceiptServiceService),
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
