import { expect } from '@jest/globals';
import { findResource, listLinked } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { refreshDueSources } from '../src/advertising/demand-sources/refresh-sources.ts';
import { settleDueSources } from '../src/advertising/demand-sources/settle-sources.ts';
import { createValidateHandler } from '../src/advertising/demand-sources/validate-source.ts';
import { claimJob } from '../src/background/job-table.ts';
import { startDemandHost } from './_demand-host.ts';
import { startTestManagement } from './_management.ts';
import { media, service } from './_values.ts';
import type { World } from './_world.ts';

/** Management, and ad servers that it asks. */
export async function startDemandWorld() {
  const [management, host] = await Promise.all([
    startTestManagement(),
    startDemandHost(['ads.example', 'cdn.example', 'elsewhere.example']),
  ]);
  const { pool } = management;
  const deps = () => ({ ...management, fetch: host.fetch, random: () => 0.5 });
  const view = ({ id, version }: { readonly id: string; readonly version: number }, resource_type: string) => ({
    ...{ id, version, resource_type },
  });

  const world = {
    management,
    host,
    /** What asks and settles sources. */
    deps,
    sourceAt: (given: object = {}) => ({
      endpoint: `${host.origin('ads.example')}/vast?cb=[CACHEBUSTING]&ip=[DEVICEIP]&type=[ADTYPE]`,
      allowed_hosts: ['ads.example', 'cdn.example'],
      ...given,
    }),
    /** The tag of ads.example answers with this document; cdn.example has a file for each ad. */
    answers(document: string): void {
      host.serve('ads.example/vast', { body: host.here(document) });
      for (const [, name] of document.matchAll(/https:\/\/cdn\.example\/([\w.]+)/g))
        host.serve(`cdn.example/${name}`, { body: `sound of ${name}` });
    },
    find: async ({ workspaceId }: World, source: ResourceView) =>
      (await findResource(pool, workspaceId, 'demand_sources', source.id))!,
    creativesOf: ({ workspaceId }: World, source: ResourceView) =>
      listLinked(pool, workspaceId, 'creatives', 'demand_source', source.id),
    assignmentsOf: ({ workspaceId }: World, source: ResourceView) =>
      listLinked(pool, workspaceId, 'creative_assignments', 'line_item', String(source.attributes['line_item_id'])),
    statesOf: async (rows: Promise<readonly { readonly lifecycle_state: string }[]>) =>
      (await rows).map(({ lifecycle_state: state }) => state).sort(),
    changeCount: async ({ workspaceId }: World) =>
      (await pool.query('select from operation where workspace_id = $1', [workspaceId])).rowCount,
    /** Validates a source and returns it as it is afterwards. */
    async validated(of: World, source: ResourceView) {
      await of.send('demand_source.validate', source, {}, service('operator'));
      const job = (await claimJob(pool, ['validate_demand_source'], 'test', 30_000))!;
      await createValidateHandler(deps()).run(job, new AbortController().signal);
      return world.find(of, source);
    },
    /** Asks and settles what is due. */
    async round(): Promise<void> {
      const errors: unknown[] = [];
      await refreshDueSources(deps(), (error) => errors.push(error));
      while (await settleDueSources(deps(), (error) => errors.push(error)));
      expect(errors).toEqual([]);
    },
    /** An active source that was asked once. */
    async asked(of: World, given: object = {}) {
      const source = await of.demandSource(world.sourceAt(given));
      expect(await world.validated(of, source)).toMatchObject({ lifecycle_state: 'active' });
      await world.round();
      return source;
    },
    /** The encoder has prepared the newest ads of a source. */
    async prepare(of: World, source: ResourceView): Promise<void> {
      for (const creative of await world.creativesOf(of, source)) {
        if (creative.lifecycle_state !== 'processing' || creative.attributes.media.length > 0) continue;
        const lease = await of.lease('encode_creative', creative.id);
        const changes = { media: [media], duration_ms: 24 };
        await of.send('creative.record_media', view(creative, 'creatives'), changes, service('encoder'), lease);
      }
      await world.round();
    },
    /** Forgets pages and requests, and leaves sources and jobs of other tests alone. */
    async clear(): Promise<void> {
      host.clear();
      for (const table of ['demand_refresh', 'job']) await pool.query(`delete from ${table}`);
    },
    async [Symbol.asyncDispose]() {
      await management[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
  return world;
}

export type DemandWorld = Awaited<ReturnType<typeof startDemandWorld>>;
