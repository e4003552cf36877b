import { generateKeyPair, exportJWK, type JWK } from 'jose';
import { productCatalog, type CommandType } from '@longwave/command-catalog';
import {
  createApprovedRunner,
  createCommandExecutor,
  createReceiptSigner,
  type Actor,
  type CommandOutcome,
  type ExecuteCommand,
  type ExecutorOptions,
  type RunApproved,
} from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { startTestDatabase, startTestObjectStore } from '@longwave/fleet';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { newId } from '@longwave/ids';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import { createPool, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { claimJob } from '../src/jobs/job-table.ts';
import type { Ask } from '../src/podcasts/ask.ts';
import type { PrepareArtwork } from '../src/prepare-artwork.ts';
import { saveEncodingLimit } from '../src/productions/encoding-balance-table.ts';
import { createRules } from '../src/rules.ts';
import { createAdvertising } from './_advertising.ts';
import { digest, hour, media, person, service, window } from './_values.ts';

export type ProductCommand = CommandType<typeof productCatalog>;

export const mediaUrl = 'http://media.test';
export { hour, media, person, service, window };

/** A 1400 × 1400 PNG, as far as anyone looks. */
export const squarePng = (() => {
  const bytes = Buffer.alloc(64);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(1400, 16);
  bytes.writeUInt32BE(1400, 20);
  return bytes;
})();

/** Public Delivery as it serves artwork. */
const servedArtwork: Ask = async (_url, { method = 'GET', range } = {}) => ({
  status: range === undefined ? 200 : 206,
  header: (name) => ({ 'content-type': 'image/png', 'content-length': String(squarePng.length) })[name],
  body: method === 'HEAD' ? Buffer.alloc(0) : squarePng,
});

/** Another host, whose every address is the feed of a podcast with one episode. */
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

/** management's executor over a real database and a real object store; the encoder and public addresses are the outside world. */
export interface TestManagement extends AsyncDisposable {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly runApproved: RunApproved;
  readonly publicKey: JWK;
  /** What the next probe finds, in milliseconds. */
  probeMs: number;
  /** How often an encoder was asked. */
  probes: number;
  /** Prepares the next artwork. */
  prepareArtwork: PrepareArtwork;
  /** What public addresses answer. */
  ask: Ask;
  /** Where feeds and what belongs to them are fetched. */
  fetch: GuardedFetch;
  /** How far the service's clock is ahead of time. */
  aheadMs: number;
  /** Ads that the sink has counted, by line item. */
  readonly delivered: Map<string, number>;
  readonly clock: () => Date;
}

export async function startTestManagement(): Promise<TestManagement> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' }));
  const s3 = stack.use(await startTestObjectStore());
  const store = createObjectStore(s3);
  await store.ensureBucket();
  const pool = stack.adopt(createPool(database.url, 'product', { name: 'test' }), (p) => p.end());
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const world = {
    probeMs: 60_000,
    probes: 0,
    prepareArtwork: (async () => preparedArtwork) as PrepareArtwork,
    ask: servedArtwork,
    fetch: servedFeed,
    aheadMs: 0,
    delivered: new Map<string, number>(),
  };
  const clock = () => new Date(Date.now() + world.aheadMs);
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
      ask: (url, options) => world.ask(url, options),
      fetch: (url, request) => world.fetch(url, request),
      countDelivered: async (_workspaceId, lineItemId) => world.delivered.get(lineItemId) ?? 0,
    }),
    signReceipt: await createReceiptSigner(await exportJWK(privateKey)),
    clock,
  };
  const execute = createCommandExecutor(pipeline);
  const owned = stack.move();
  return Object.assign(world, {
    pool,
    store,
    execute,
    runApproved: createApprovedRunner(pipeline),
    clock,
    publicKey: await exportJWK(publicKey),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

export const operator = service('operator');

/** What an encoder makes of an image. */
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

/** Content of one workspace in the making: creates what a command needs, through the commands themselves. */
function createHosting(management: TestManagement, workspaceId: string = newId('ws')) {
  const { execute, pool, store } = management;
  const actor = person(workspaceId);

  async function send(
    commandType: ProductCommand,
    subject: Pick<ResourceView, 'resource_type' | 'id' | 'version'> | null,
    changes: unknown,
    as: Actor = actor,
    reason?: unknown,
  ): Promise<ResourceView> {
    const type = productCatalog.commands[commandType].subject;
    const outcome: CommandOutcome = await execute(
      {
        workspaceId,
        commandType,
        idempotencyKey: newId('req'),
        subject: { type, id: subject?.id ?? null, version: subject?.version ?? 0 },
        changes,
        reason,
      },
      as,
    );
    return outcome.resource;
  }

  const leases = new Map<string, { readonly job_id: string; readonly lease_id: string }>();
  const world = {
    workspaceId,
    actor,
    pool,
    now: management.clock,
    /** The service's clock goes on. */
    ahead: (ms: number) => void (management.aheadMs += ms),
    send,
    /** The workspace's own resource, as an account gets it. */
    provisioned: () =>
      execute(
        {
          workspaceId,
          commandType: 'workspace.provision',
          idempotencyKey: newId('req'),
          subject: { type: 'workspaces', id: workspaceId },
          changes: { name: 'A', account_id: newId('acc') },
        },
        service('management'),
      ),
    setEncodingLimit: (ms: number | null) => saveEncodingLimit(pool, workspaceId, ms, Date.now() % 2_000_000_000),
    podcast: () => send('podcast.create', null, { title: 'Harbour Light', language: 'en' }),
    readyPodcast: () =>
      send('podcast.create', null, {
        title: 'Harbour Light',
        language: 'en',
        description: 'd',
        author: 'a',
        artwork_url: 'http://media.test/a.jpg',
        categories: ['Arts'],
      }),
    async publishedPodcast() {
      return send('podcast.publish', await world.readyPodcast(), {});
    },
    /** A podcast whose part an encoder prepares. */
    async preparing(part: 'intro' | 'outro', podcast?: ResourceView) {
      const set = await send(`podcast.set_${part}`, podcast ?? (await world.podcast()), {
        file_url: (await world.upload()).attributes['file_url'],
      });
      return { podcast: set, lease: await world.lease('encode_segment', set.id) };
    },
    /** A scheduled episode whose time came a moment ago; the service's clock goes on for that. */
    async dueEpisode() {
      const episode = await world.playableEpisode();
      const publishAt = new Date(management.clock().getTime() + 60_000).toISOString();
      const scheduled = await send('episode.schedule', episode, { publish_at: publishAt });
      management.aheadMs += 61_000;
      return scheduled;
    },
    async episode() {
      return send('episode.create', null, { podcast_id: (await world.podcast()).id, title: 'One' });
    },
    async upload(
      filename = 'one.mp3',
      bytes: Buffer = Buffer.from('abc'),
      uploadType?: 'public' | 'private' | 'temporary',
    ) {
      const upload = await send('upload.grant', null, {
        filename,
        filesize: bytes.length,
        ...(uploadType && { upload_type: uploadType }),
      });
      await store.put(String(upload.attributes['storage_key']), bytes, {
        contentType: 'audio/mpeg',
        sizeBytes: bytes.length,
      });
      return upload;
    },
    async production() {
      const episode = await world.episode();
      return send('production.create', null, {
        episode_id: episode.id,
        file_url: (await world.upload()).attributes['file_url'],
      });
    },
    async encoding() {
      await world.setEncodingLimit(hour);
      const production = await send('production.start', await world.production(), {});
      return { production, lease: await world.lease('encode_production', production.id) };
    },
    /** Claims jobs until the subject's own turns up. */
    async lease(kind: string, subjectId: string) {
      for (;;) {
        const held = leases.get(subjectId);
        leases.delete(subjectId);
        if (held) return held;
        const job = await claimJob(pool, [kind], 'worker', 30_000);
        if (!job) throw new Error(`no ${kind} job for ${subjectId}`);
        leases.set(job.subject_id, { job_id: job.id, lease_id: job.lease_id });
      }
    },
    completion: {
      files: [
        {
          role: 'rendition',
          format: 'mp3',
          stream_format: 'mp3/128000/48000/2',
          storage_key: `media/${digest}`,
          size_bytes: 384,
          sha256: digest,
          bitrate: 128_000,
          duration_ms: 24,
        },
      ],
      audio_duration_ms: 60_000,
      loudness: { input_lufs: -20, output_lufs: -16, true_peak_dbtp: -2 },
      silences: [
        [0, 400],
        [29_800, 30_200],
      ],
    },
    async encoded() {
      const { production, lease } = await world.encoding();
      return send('production.complete', production, world.completion, service('encoder'), lease);
    },
    async playableEpisode() {
      const production = await world.encoded();
      const attach = async (): Promise<ResourceView> => {
        const { rows } = await pool.query<ResourceView>(
          'select resource_type, id, version from resource where id = $1',
          [production.attributes['episode_id']],
        );
        return send('episode.attach_production', rows[0]!, { production_id: production.id }).catch((error: unknown) => {
          // A follower may attach it between the two, and makes another version.
          if (error instanceof Problem && error.code === 'version_conflict') return attach();
          throw error;
        });
      };
      return attach();
    },
    /** An episode of this podcast with an encoded production. */
    async audibleEpisode(podcast: ResourceView) {
      await world.setEncodingLimit(null);
      const episode = await send('episode.create', null, { podcast_id: podcast.id, title: 'One' });
      const created = await send('production.create', null, {
        episode_id: episode.id,
        file_url: (await world.upload()).attributes['file_url'],
      });
      const started = await send('production.start', created, {});
      const lease = await world.lease('encode_production', started.id);
      const production = await send('production.complete', started, world.completion, service('encoder'), lease);
      return send('episode.attach_production', episode, { production_id: production.id });
    },
  };
  return world;
}

export type HostingWorld = ReturnType<typeof createHosting>;

/** One workspace in the making, advertising included. */
export function createWorld(management: TestManagement, workspaceId?: string) {
  const hosting = createHosting(management, workspaceId);
  return { ...hosting, ...createAdvertising(hosting) };
}

export type World = ReturnType<typeof createWorld>;

/** The problem that refuses an attempt. Throws when it succeeds or fails otherwise. */
export async function refusalOf(attempt: Promise<unknown>): Promise<Problem> {
  const error: unknown = await attempt.then(
    () => new Error('the command was accepted'),
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw error;
}
