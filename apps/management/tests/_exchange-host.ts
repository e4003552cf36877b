import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Attributes, ChangesInput, ResourceType } from '@longwave/command-catalog';
import { findResource, listLinked, type ResourceRow } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { sendAsManagement } from '../src/background/send-as-management.ts';
import { startJobRunner } from '../src/background/job-runner.ts';
import { createMapContentHandler } from '../src/exchange/content/map-content.ts';
import { followRevocations } from '../src/exchange/content/follow-revocations.ts';
import { startIntents } from '../src/exchange/intents/publish-intents.ts';
import { sha256Of, type Platform } from './_exchange.ts';
import { startFollowed } from './_followed.ts';
import { service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

type Episode = ChangesInput<'content_snapshot.accept'>['content']['episode'];

/** Management with everything that follows the messages of platforms, and a platform's file server. */
export async function startExchangeHost() {
  await using stack = new AsyncDisposableStack();
  const files = new Map<string, Buffer>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    const body = files.get(request.url!);
    response.writeHead(body ? 200 : 404).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  stack.defer(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const followed = stack.use(await startFollowed());
  const { management } = followed;
  const { pool, execute, clock } = management;
  const fetch = createGuardedFetch({ allowOrigins: [origin] });
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  stack.use(
    startJobRunner({
      ...{ pool, execute, onError, pollMs: 20, backOffMs: () => 1 },
      handlers: { map_content: createMapContentHandler({ ...management, fetch }) },
    }),
  );
  const send = sendAsManagement(execute, createLogger('test', 'silent'));
  stack.use(followRevocations({ pool, send, clock, onError, everyMs: 20 }));
  stack.use(startIntents({ pool, execute, clock, onError, everyMs: 50 }));

  const read = async <T extends ResourceType>({ workspaceId }: World, type: T, id: string): Promise<ResourceRow<T>> =>
    (await findResource(pool, workspaceId, type, id))!;

  const host = {
    ...{ management, followed, origin, asked, errors, read },
    /** Serves a file; answers its address and digest. */
    serve(path: string, body: Buffer | string) {
      const bytes = Buffer.from(body);
      files.set(path, bytes);
      return { url: `${origin}${path}`, digest: `sha256:${sha256Of(bytes)}`, bytes: bytes.length };
    },
    /** Serves the audio of a version and says what it is. */
    master(path: string, body = `audio of ${path}`): Episode['audio_master'] {
      return { ...host.serve(path, body), codec: 'mp3', channels: 2, sample_rate: 48_000 };
    },
    /** Waits until a version has come to a state. */
    stateOf: (world: World, { id }: Pick<ResourceView, 'id'>, ...states: readonly string[]) =>
      until(() => read(world, 'content_snapshots', id), {
        holds: (row) => states.includes(row.lifecycle_state),
      }),
    /** Waits until the encoding of a version is queued, and completes it as an encoder does. */
    async encode(world: World, snapshot: Pick<ResourceView, 'id'>, audioMs = 60_000) {
      const { attributes } = await host.stateOf(world, snapshot, 'encoding');
      const id = attributes.production_id!;
      const lease = await world.lease('encode_production', id);
      const completion = { ...world.completion, audio_duration_ms: audioMs };
      const production = { resource_type: 'productions', id, version: 2 };
      await world.send('production.complete', production, completion, service('encoder'), lease);
      return id;
    },
    /** Takes a version over up to its serving. */
    async served(world: World, platform: Platform, version: number, more: Partial<Episode> = {}, sourceId = 'ep-1') {
      const master = host.master(`/${world.workspaceId}/${sourceId}-${version}.mp3`);
      const snapshot = await world.snapshot(platform, sourceId, version, { audio_master: master, ...more });
      await host.encode(world, snapshot);
      return host.stateOf(world, snapshot, 'ready');
    },
    /** The episode that a version is one of. */
    episodeOf: async (world: World, { attributes }: { readonly attributes: Attributes<'content_snapshots'> }) =>
      read(world, 'episodes', attributes.episode_id!),
    productionsOf: ({ workspaceId }: World, episodeId: string) =>
      listLinked(pool, workspaceId, 'productions', 'episode', episodeId),
    /** A workspace with a platform. */
    async joined() {
      const world = createWorld(management);
      await world.setEncodingLimit(0);
      return { world, platform: await world.platform() };
    },
  };
  const owned = stack.move();
  return Object.assign(host, { [Symbol.asyncDispose]: () => owned.disposeAsync() });
}

export type ExchangeHost = Awaited<ReturnType<typeof startExchangeHost>>;
