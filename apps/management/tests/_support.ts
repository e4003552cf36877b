import { generateKeyPair, exportJWK, type JWK } from 'jose';
import { productCatalog, type CommandType } from '@longwave/command-catalog';
import {
  createCommandExecutor,
  createReceiptSigner,
  type Actor,
  type CommandOutcome,
  type ExecuteCommand,
} from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { startTestDatabase, startTestObjectStore } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createObjectStore, type ObjectStore } from '@longwave/object-store';
import { createPool, type Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import { claimJob } from '../src/jobs/job-table.ts';
import { saveEncodingLimit } from '../src/productions/encoding-balance-table.ts';
import { createRules } from '../src/rules.ts';

export type ProductCommand = CommandType<typeof productCatalog>;

export const mediaUrl = 'http://media.test';
const hour = 3600_000;

/** management's executor over a real database and a real object store; the encoder's probe is the outside world. */
export interface TestManagement extends AsyncDisposable {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly publicKey: JWK;
  /** What the next probe finds, in milliseconds. */
  probeMs: number;
  /** How often an encoder was asked. */
  probes: number;
}

export async function startTestManagement(): Promise<TestManagement> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' }));
  const s3 = stack.use(await startTestObjectStore());
  const store = createObjectStore(s3);
  await store.ensureBucket();
  const pool = stack.adopt(createPool(database.url, 'product', { name: 'test' }), (p) => p.end());
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const world = { probeMs: 60_000, probes: 0 };
  const execute = createCommandExecutor({
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
    }),
    signReceipt: await createReceiptSigner(await exportJWK(privateKey)),
    clock: () => new Date(),
  });
  const owned = stack.move();
  return Object.assign(world, {
    pool,
    store,
    execute,
    publicKey: await exportJWK(publicKey),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

export const service = (name: string): Actor => ({ kind: 'service', name });
export const operator = service('operator');

/** A person of a workspace with every role, or with the given ones. */
export const person = (
  workspaceId: string,
  roles: Principal['roles'] = ['owner', 'editor', 'trafficker', 'sales', 'admin'],
): Actor => ({
  kind: 'principal',
  principal: {
    account_id: newId('acc'),
    workspace_id: workspaceId,
    roles,
    credential_id: newId('crd'),
    credential_kind: 'api_key',
    read_only: false,
  },
});

export interface Example {
  readonly subject: { readonly type: string; readonly id: string | null; readonly version: number };
  readonly changes: Record<string, unknown>;
  readonly reason?: unknown;
  readonly actor: Actor;
}

const window = {
  start: new Date(Date.now() - hour).toISOString(),
  end: new Date(Date.now() + 24 * hour).toISOString(),
};
const digest = 'a'.repeat(64);
const media = {
  stream_format: 'mp3/128000/48000/2',
  storage_key: `media/${digest}`,
  sha256: digest,
  size_bytes: 384,
  duration_ms: 24,
  loudness_lufs: -16,
  true_peak_dbtp: -2,
};

/** One workspace in the making: creates what a command needs, through the commands themselves. */
export function createWorld(management: TestManagement, workspaceId: string = newId('ws')) {
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
    send,
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
    async episode() {
      return send('episode.create', null, { podcast_id: (await world.podcast()).id, title: 'One' });
    },
    async upload(filename = 'one.mp3') {
      const upload = await send('upload.grant', null, { filename, filesize: 3 });
      await store.put(String(upload.attributes['storage_key']), Buffer.from('abc'), {
        contentType: 'audio/mpeg',
        sizeBytes: 3,
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
    },
    async encoded() {
      const { production, lease } = await world.encoding();
      return send('production.complete', production, world.completion, service('encoder'), lease);
    },
    async playableEpisode() {
      const production = await world.encoded();
      const { rows } = await pool.query<ResourceView>('select resource_type, id, version from resource where id = $1', [
        production.attributes['episode_id'],
      ]);
      return send('episode.attach_production', rows[0]!, { production_id: production.id });
    },
    advertiser: () =>
      send('advertiser.create', null, { legal_name: 'Tidewater', brands: [], ad_product_categories: [] }),
    async campaign() {
      return send('campaign.create', null, { advertiser_id: (await world.advertiser()).id, name: 'Autumn', window });
    },
    async approvedCampaign() {
      return send('campaign.submit', await world.campaign(), {});
    },
    async creative() {
      return send('creative.create', null, {
        advertiser_id: (await world.advertiser()).id,
        name: 'Ad',
        format: 'audio',
        production: 'produced',
        universal_ad_id: 'unknown',
      });
    },
    async processingCreative() {
      const creative = await send('creative.attach_media', await world.creative(), {
        upload_ref: (await world.upload()).id,
      });
      return { creative, lease: await world.lease('encode_creative', creative.id) };
    },
    async preparedCreative() {
      const { creative, lease } = await world.processingCreative();
      return send('creative.record_media', creative, { media: [media], duration_ms: 24 }, service('encoder'), lease);
    },
    async approvedCreative() {
      return send('creative.submit', await world.preparedCreative(), { disclosure: 'Advertisement' });
    },
    lineItemChanges: (campaignId: string) => ({
      campaign_id: campaignId,
      name: 'Pre-roll',
      type: 'guaranteed',
      window,
      goal: { unit: 'impressions', quantity: 10 },
      rate: { model: 'none' },
      break_positions: ['pre'],
    }),
    async lineItem() {
      return send('line_item.create', null, world.lineItemChanges((await world.approvedCampaign()).id));
    },
    async assignment() {
      const lineItem = await world.lineItem();
      const creative = await world.approvedCreative();
      return {
        lineItem,
        assignment: await send('creative_assignment.create', null, {
          line_item_id: lineItem.id,
          creative_id: creative.id,
        }),
      };
    },
    async approvedLineItem() {
      const { lineItem, assignment } = await world.assignment();
      await send('creative_assignment.activate', assignment, {});
      return send('line_item.submit', lineItem, {});
    },
    compiling: async () => {
      const plan = await send('serving_plan.compile', null, { effective_from: window.start });
      return { plan, lease: await world.lease('compile_serving_plan', plan.id) };
    },
    planCompiled: { storage_key: `plans/${digest}.json`, digest, counts: { line_items: 0, creatives: 0 } },
    async readyPlan() {
      const { plan, lease } = await world.compiling();
      return send('serving_plan.record_compiled', plan, world.planCompiled, service('management'), lease);
    },
  };
  return world;
}

export type World = ReturnType<typeof createWorld>;

const creates = (type: string, changes: Record<string, unknown>, actor: Actor): Example => ({
  subject: { type, id: null, version: 0 },
  changes,
  actor,
});
const on = (view: ResourceView, changes: Record<string, unknown>, actor: Actor, reason?: unknown): Example => ({
  subject: { type: view.resource_type, id: view.id, version: view.version },
  changes,
  actor,
  reason,
});

/** A valid request for every command, its world arranged by other commands; a command without an example does not compile. */
export const examples: { readonly [C in ProductCommand]: (world: World) => Promise<Example> } = {
  'workspace.provision': async (w) => ({
    subject: { type: 'workspaces', id: w.workspaceId, version: 0 },
    changes: { name: 'A', account_id: newId('acc') },
    actor: service('management'),
  }),
  'podcast.create': async (w) => creates('podcasts', { title: 'A', language: 'en' }, w.actor),
  'podcast.revise': async (w) => on(await w.podcast(), { title: 'B' }, w.actor),
  'podcast.publish': async (w) => on(await w.readyPodcast(), {}, w.actor),
  'episode.create': async (w) => creates('episodes', { podcast_id: (await w.podcast()).id, title: 'One' }, w.actor),
  'episode.revise': async (w) => on(await w.episode(), { title: 'Two' }, w.actor),
  'episode.attach_production': async (w) => {
    const production = await w.encoded();
    return {
      subject: { type: 'episodes', id: String(production.attributes['episode_id']), version: 1 },
      changes: { production_id: production.id },
      actor: w.actor,
    };
  },
  'episode.publish': async (w) => on(await w.playableEpisode(), {}, w.actor),
  'upload.grant': async (w) => creates('uploads', { filename: 'one.mp3', filesize: 3 }, w.actor),
  'upload.receive': async (w) => on(await w.upload(), {}, service('management')),
  'upload.abort': async (w) => on(await w.upload(), {}, w.actor),
  'production.create': async (w) =>
    creates(
      'productions',
      { episode_id: (await w.episode()).id, file_url: (await w.upload()).attributes['file_url'] },
      w.actor,
    ),
  'production.start': async (w) => {
    await w.setEncodingLimit(hour);
    return on(await w.production(), { publish_episode: true }, w.actor);
  },
  'production.complete': async (w) => {
    const { production, lease } = await w.encoding();
    return on(production, w.completion, service('encoder'), lease);
  },
  'production.fail': async (w) => {
    const { production, lease } = await w.encoding();
    return on(
      production,
      { problem: { code: 'media_empty', detail: 'The file is empty.' } },
      service('encoder'),
      lease,
    );
  },
  'advertiser.create': async (w) =>
    creates('advertisers', { legal_name: 'Tidewater', brands: [], ad_product_categories: [] }, w.actor),
  'campaign.create': async (w) =>
    creates('campaigns', { advertiser_id: (await w.advertiser()).id, name: 'Autumn', window }, w.actor),
  'campaign.submit': async (w) => on(await w.campaign(), {}, w.actor),
  'campaign.activate': async (w) => on(await w.approvedCampaign(), {}, w.actor),
  'creative.create': async (w) =>
    creates(
      'creatives',
      {
        advertiser_id: (await w.advertiser()).id,
        name: 'Ad',
        format: 'audio',
        production: 'produced',
        universal_ad_id: 'unknown',
      },
      w.actor,
    ),
  'creative.attach_media': async (w) => on(await w.creative(), { upload_ref: (await w.upload()).id }, w.actor),
  'creative.record_media': async (w) => {
    const { creative, lease } = await w.processingCreative();
    return on(creative, { media: [media], duration_ms: 24 }, service('encoder'), lease);
  },
  'creative.fail_media': async (w) => {
    const { creative, lease } = await w.processingCreative();
    return on(creative, { problem: { code: 'media_empty', detail: 'The file is empty.' } }, service('encoder'), lease);
  },
  'creative.submit': async (w) => on(await w.preparedCreative(), { disclosure: 'Advertisement' }, w.actor),
  'creative_assignment.create': async (w) =>
    creates(
      'creative_assignments',
      { line_item_id: (await w.lineItem()).id, creative_id: (await w.creative()).id },
      w.actor,
    ),
  'creative_assignment.activate': async (w) => on((await w.assignment()).assignment, {}, w.actor),
  'line_item.create': async (w) => creates('line_items', w.lineItemChanges((await w.campaign()).id), w.actor),
  'line_item.submit': async (w) => on((await w.assignment()).lineItem, {}, w.actor),
  'line_item.book': async (w) => on(await w.approvedLineItem(), {}, w.actor),
  'serving_plan.compile': async (w) => creates('serving_plans', { effective_from: window.start }, w.actor),
  'serving_plan.record_compiled': async (w) => {
    const { plan, lease } = await w.compiling();
    return on(plan, w.planCompiled, service('management'), lease);
  },
  'serving_plan.fail': async (w) => {
    const { plan, lease } = await w.compiling();
    return on(plan, { problem: { code: 'compile_failed', detail: 'Not this time.' } }, service('management'), lease);
  },
  'serving_plan.publish': async (w) => on(await w.readyPlan(), {}, w.actor),
  'serving_plan.supersede': async (w) =>
    on(await w.send('serving_plan.publish', await w.readyPlan(), {}), {}, service('management')),
};
