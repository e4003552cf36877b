import { generateKeyPair, exportJWK, type JWK } from 'jose';
import { productCatalog } from '@longwave/command-catalog';
import {
  createApprovedRunner,
  createCommandExecutor,
  createReceiptSigner,
  createReviewPreview,
  type ExecuteCommand,
  type ExecutorOptions,
  type PreviewReview,
  type RunApproved,
} from '@longwave/command-pipeline';
import { startTestDatabase, startTestObjectStore, type TestDatabase } from '@longwave/fleet';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import { createPool, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { CheckAvailabilityResponse } from '@longwave/rpc/forecast';
import type { ShownPresentation } from '@longwave/rpc/delivery';
import { deliveryContract, type DeliveryContract } from '@longwave/services';
import type { SumUnitCosts } from '../src/advertising/campaigns/sum-unit-costs.ts';
import type { CountConfirmed } from '../src/advertising/line-items/count-confirmed.ts';
import type { CheckAvailability } from '../src/commerce/forecasts/check-availability.ts';
import { findBookingVersion } from '../src/commerce/forecasts/booking-version-table.ts';
import { applePodcasts } from '../src/hosting/platforms/apple-podcasts.ts';
import type { PlatformAccess } from '../src/hosting/platforms/platform.ts';
import type { PublicFetch } from '../src/outside/public-fetch.ts';
import type { PrepareArtwork } from '../src/outside/prepare-artwork.ts';
import { createRules } from '../src/rules.ts';
import { secretsFromConfig } from '../src/workspace/webhooks/endpoint-secrets.ts';
import { createCheckRequester } from '../src/workspace/reviews/check-requester.ts';
import { decideReview } from '../src/workspace/reviews/decide-review.ts';
import { checkWorkspace } from '../src/workspace/workspaces/check-workspace.ts';
import { createFakeLedger, type FakeLedger } from './_ledger.ts';
import { digest, service } from './_values.ts';

export const mediaUrl = 'http://media.test';

/** A plan with everything. */
export const plan = { name: 'network', includesAnalytics: true, requestsPerMinute: 1, uploadUrlsPerMinute: 1 };

/** Derives the secrets of webhook endpoints. */
export const webhookSecrets = secretsFromConfig(() => ['0'.repeat(64)]);
/** The origin of receivers of webhooks, which may be http and on another port. */
export const receiverOrigin = 'http://receiver.test:8080';

/** The header of a 1400 × 1400 PNG. */
export const squarePng = (() => {
  const bytes = Buffer.alloc(64);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(1400, 16);
  bytes.writeUInt32BE(1400, 20);
  return bytes;
})();

/** Serves artwork like Public Delivery. */
const servedArtwork: PublicFetch = async (_url, { method = 'GET', range } = {}) => ({
  status: range === undefined ? 200 : 206,
  header: (name) => ({ 'content-type': 'image/png', 'content-length': String(squarePng.length) })[name],
  body: method === 'HEAD' ? Buffer.alloc(0) : squarePng,
});

/** Another host: each of its addresses is the feed of a podcast with one episode. */
const servedFeed: GuardedFetch = async (url) => ({
  status: 200,
  headers: { 'content-type': 'application/rss+xml' },
  finalUrl: url,
  body: (async function* () {
    yield Buffer.from(
      '<rss version="2.0"><channel><title>Tide Tables</title><item><title>One</title><guid>one</guid>' +
        '<enclosure url="https://media.example/one.mp3" type="audio/mpeg" length="3"/></item></channel></rss>',
    );
  })(),
  [Symbol.dispose]: () => undefined,
});

/** Management's executor over a real database and a real object store, with stand-ins for the encoder and public addresses. */
export interface TestManagement extends AsyncDisposable {
  readonly pool: Pool;
  readonly database: TestDatabase;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  /** The executor of a process that signs receipts with another key. */
  readonly executeSignedBy: (key: JWK) => Promise<ExecuteCommand>;
  readonly runApproved: RunApproved;
  readonly previewReview: PreviewReview;
  readonly publicKey: JWK;
  /** The private key that signs receipts. */
  readonly receiptKey: JWK;
  /** Duration that the next probe finds, in milliseconds. */
  probeMs: number;
  /** Number of probes. */
  probes: number;
  /** Prepares the next artwork. */
  prepareArtwork: PrepareArtwork;
  /** Answers for public addresses. */
  publicFetch: PublicFetch;
  /** Answers for feeds and their files. */
  fetch: GuardedFetch;
  /** The presentation of every episode. */
  presentation: ShownPresentation | undefined;
  /** The access to Apple Podcasts. */
  apple: PlatformAccess;
  /** What Public Delivery can do. */
  contract: DeliveryContract;
  /** Milliseconds by which the service's clock is ahead. */
  aheadMs: number;
  /** Ads that the sink has counted, by line item. */
  readonly delivered: Map<string, number>;
  /** The plan of every workspace. */
  plan: typeof plan;
  /** How the next command counts them. */
  countConfirmed: CountConfirmed;
  /** What is left for the next line item, beside the version of the bookings as it is. */
  available: Partial<CheckAvailabilityResponse>;
  /** Answers instead of the above. */
  checkAvailability: CheckAvailability | undefined;
  /** What units of line items cost by now. */
  sumUnitCosts: SumUnitCosts;
  /** The ledger of the sink. */
  readonly ledger: FakeLedger;
  readonly clock: () => Date;
}

/** @param receiverOrigins where webhook endpoints may be */
export async function startTestManagement(
  receiverOrigins: readonly string[] = [receiverOrigin],
): Promise<TestManagement> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' }));
  const s3 = stack.use(await startTestObjectStore());
  const store = createObjectStore(s3);
  await store.ensureBucket();
  const pool = stack.adopt(createPool(database.url, 'product', { name: 'test' }), (p) => p.end());
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const receiptKey: JWK = { ...(await exportJWK(privateKey)), kid: 'test-1' };
  const delivered = new Map<string, number>();
  const clock = (): Date => new Date(Date.now() + world.aheadMs);
  const world = {
    probeMs: 60_000,
    probes: 0,
    prepareArtwork: (async () => preparedArtwork) as PrepareArtwork,
    publicFetch: servedArtwork,
    fetch: servedFeed,
    presentation: { digest, url: `${mediaUrl}/delivery/v1/e/t1.x/one.m3u8`, hasPictures: true } as
      ShownPresentation | undefined,
    apple: { platform: applePodcasts('http://apple.test', async () => 'Bearer x') } as PlatformAccess,
    contract: deliveryContract,
    aheadMs: 0,
    ledger: createFakeLedger(() => clock()),
    delivered,
    plan,
    countConfirmed: (async (_workspaceId, lineItemId) => delivered.get(lineItemId) ?? 0) as CountConfirmed,
    available: {} as Partial<CheckAvailabilityResponse>,
    checkAvailability: undefined as CheckAvailability | undefined,
    sumUnitCosts: (async () => 0n) as SumUnitCosts,
  };
  const pipeline: ExecutorOptions<typeof productCatalog> = {
    pool,
    catalog: productCatalog,
    rules: createRules({
      pool,
      store,
      mediaUrl,
      probeDuration: async () => {
        world.probes++;
        return world.probeMs;
      },
      prepareArtwork: (source) => world.prepareArtwork(source),
      publicFetch: (url, options) => world.publicFetch(url, options),
      fetch: (url, request) => world.fetch(url, request),
      reportDays: 30,
      findPlan: async () => ({ plan: world.plan }),
      countConfirmed: (workspaceId, lineItemId, basis) => world.countConfirmed(workspaceId, lineItemId, basis),
      checkAvailability: async (workspaceId, line) =>
        world.checkAvailability?.(workspaceId, line) ?? {
          ...{ capacity: 10n ** 12n, available: 10n ** 12n, nearest: 10n ** 12n, contending: [], learning: false },
          shareTakenPct: 0,
          bookingVersion: BigInt(await findBookingVersion(pool, workspaceId)),
          ...world.available,
        },
      sumUnitCosts: (workspaceId, lineItemIds) => world.sumUnitCosts(workspaceId, lineItemIds),
      webhooks: { secrets: webhookSecrets, allowOrigins: receiverOrigins },
      submissions: {
        platforms: {
          get apple_podcasts() {
            return world.apple;
          },
        },
        get contract() {
          return world.contract;
        },
        findPresentation: async () => ({ presentation: world.presentation }),
      },
      ledger: world.ledger,
      clock,
    }),
    signReceipt: createReceiptSigner(receiptKey),
    clock,
    decideReview,
    checkRequester: createCheckRequester(pool),
    checkWorkspace,
  };
  const execute = createCommandExecutor(pipeline);
  const owned = stack.move();
  return Object.assign(world, {
    pool,
    database,
    store,
    execute,
    executeSignedBy: async (key: JWK) => createCommandExecutor({ ...pipeline, signReceipt: createReceiptSigner(key) }),
    runApproved: createApprovedRunner(pipeline),
    previewReview: createReviewPreview(pipeline),
    clock,
    publicKey: await exportJWK(publicKey),
    receiptKey,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

export const operator = service('operator');

/** The renditions of an image. */
export const preparedArtwork: Awaited<ReturnType<PrepareArtwork>> = {
  renditions: [
    {
      size: 1400,
      content_type: 'image/png',
      storage_key: `artwork/${digest}`,
      sha256: digest,
      size_bytes: squarePng.length,
    },
  ],
};
export const segment = {
  stream_format: 'mp3/128000/48000/2',
  storage_key: `media/${digest}`,
  sha256: digest,
  size_bytes: 384,
  duration_ms: 24,
};

/** The problem for which an attempt is refused. Throws when the attempt succeeds or fails otherwise. */
export async function refusalOf(attempt: Promise<unknown>): Promise<Problem> {
  const error: unknown = await attempt.then(
    () => new Error('the command was accepted'),
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw error;
}
