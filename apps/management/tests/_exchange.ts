import { createHash, randomBytes } from 'node:crypto';
import type { Attributes, ChangesInput } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { createAuthority } from './_authority.ts';
import type { HostingWorld } from './_hosting.ts';
import { service } from './_values.ts';

type Content = ChangesInput<'content_snapshot.accept'>['content'];

export const sha256Of = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** A platform with an active authority and a key that signs for it. */
export interface Platform {
  readonly authorityId: string;
  readonly keyId: string;
  readonly streamId: string;
}

/** Creates what the messages of hosting platforms make. */
export function createExchange(hosting: HostingWorld, authority: ReturnType<typeof createAuthority>) {
  const { send } = hosting;
  const exchange = service('hosting-exchange');
  let sequence = 0;
  const world = {
    exchange,
    /** The grant of a platform that nobody has activated. */
    proposedPlatform: () => authority.proposed({ client_id: `platform-${newId('req').slice(4)}` }, { role: 'machine' }),
    async platform(): Promise<Platform> {
      const grant = await send('authority_grant.activate', await world.proposedPlatform(), {});
      const key = await authority.activeKey(grant.id);
      return { authorityId: grant.id, keyId: key.id, streamId: `show:${grant.id.slice(-8)}` };
    },
    /** What a command says of its message. */
    source: ({ authorityId, keyId, streamId }: Platform, sourceId: string, sourceVersion = 1) => ({
      ...{ authority_id: authorityId, signed_by: keyId, stream_id: streamId, sequence: ++sequence },
      ...{ message_digest: `sha256:${randomBytes(32).toString('hex')}` },
      ...{ source_id: sourceId, source_version: sourceVersion },
    }),
    content: (more: Partial<Content['episode']> = {}, show?: Content['show']): Content => ({
      episode: {
        ...{ guid: 'guid-1', title_ref: 'Tide Tables', duration_ms: 60_000, explicit: false, language: 'en' },
        ...{ content_categories: ['IAB1'], published_at: '2026-11-01T06:00:00+02:00' },
        audio_master: {
          url: 'https://platform.example/1.mp3',
          digest: `sha256:${sha256Of('one')}`,
          ...{ bytes: 3, codec: 'mp3', channels: 2, sample_rate: 48_000 },
        },
        markers: [{ key: 'mid-1', position_ms: 30_000, kind: 'mid' }],
        ...more,
      },
      ...(show && { show }),
    }),
    snapshot: (platform: Platform, sourceId = 'ep-1', version = 1, more: Partial<Content['episode']> = {}) =>
      send(
        'content_snapshot.accept',
        null,
        { ...world.source(platform, sourceId, version), content: world.content(more) },
        exchange,
      ),
    revocation: (
      platform: Platform,
      sourceId: string,
      revoked: { readonly version: number; readonly mode?: 'stop_new' | 'stop_all'; readonly at?: string },
    ) => {
      const { version, mode = 'stop_new', at = authority.inTime(-1000) } = revoked;
      const revocation = { revoke_version: version, mode, cause: 'A wrong file.', effective_at: at };
      return send(
        'content_revocation.accept',
        null,
        { ...world.source(platform, sourceId, version + 100), revocation },
        exchange,
      );
    },
    capability: (surfaceId: string, more: object = {}) => ({
      ...{ surface_id: surfaceId, protocols: ['progressive'], interstitials: 'none', ranges: true, max_redirects: 5 },
      ...{ ads_video: false, client_events: 'none', measurement: 'server_log', personalisation: 'per_download' },
      ...{ offline_audio: true, ...more },
    }),
    surface: (platform: Platform, surfaceId = 'app', more: object = {}) =>
      send(
        'surface_capability.declare',
        null,
        { ...world.source(platform, surfaceId), capability: world.capability(surfaceId, more) },
        exchange,
      ),
    aliasBody: (alias: string, more: object = {}) => ({
      ...{ alias, host: `host-${hosting.workspaceId.slice(-12)}`, path_slug: alias },
      ...{ target: { type: 'episode', source_id: 'ep-1' }, state: 'active', supersedes_version: null },
      route_policy: { surface_id: 'app', route: 'platform_controlled', when_unavailable: 'source' },
      ...more,
    }),
    alias: (platform: Platform, alias = 'one', more: object = {}) =>
      send(
        'delivery_alias.register',
        null,
        { ...world.source(platform, alias), alias: world.aliasBody(alias, more) },
        exchange,
      ),
    revisedAlias: (platform: Platform, alias: ResourceView, more: object = {}) => {
      const { source_version: before, alias: name } = alias.attributes as Attributes<'delivery_aliases'>;
      const body = world.aliasBody(name, { supersedes_version: before, ...more });
      return send(
        'delivery_alias.revise',
        alias,
        { ...world.source(platform, name, before + 1), alias: body },
        exchange,
      );
    },
    evidence: (revision = 1, more: object = {}) => ({
      ...{ source_label: 'platform-server', platform: 'Platform', kind: 'delivery', granularity: 'day', revision },
      ...{ period: { start: '2026-11-01T00:00:00Z', end: '2026-11-02T00:00:00Z' }, finality: 'provisional' },
      ...{ rows_digest: `sha256:${sha256Of('rows')}`, method_note: 'IAB 2.2', ...more },
    }),
    report: (platform: Platform, revision = 1, more: object = {}) =>
      send(
        'platform_evidence.accept',
        null,
        { ...world.source(platform, `report-${revision}`), evidence: world.evidence(revision, more) },
        exchange,
      ),
    /** A version that is taken over, with the lease of the worker that does so. */
    async mapping(platform: Platform, snapshot: ResourceView) {
      const management = service('management');
      const lease = await hosting.lease('map_content', snapshot.id);
      const podcast = await send(
        'podcast.host_elsewhere',
        null,
        {
          ...{ title: 'Show', language: 'en' },
          hosted_by: { authority_id: platform.authorityId, stream_id: platform.streamId },
        },
        management,
      );
      const episode = await send(
        'episode.import',
        null,
        { podcast_id: podcast.id, guid: 'guid-1', title: 'Tide Tables' },
        management,
      );
      const production = await send(
        'production.derive',
        null,
        { episode_id: episode.id, file_url: 'https://platform.example/1.mp3', imported: true },
        management,
      );
      const changes = {
        ...{ podcast_id: podcast.id, episode_id: episode.id, production_id: production.id },
        ...{ transcripts: [], notes: [] },
      };
      return { changes, lease, episode, production };
    },
    /** A version that waits for its encoding. */
    async mapped(platform: Platform) {
      const snapshot = await world.snapshot(platform);
      const { changes, lease, episode, production } = await world.mapping(platform, snapshot);
      const mapped = await send('content_snapshot.map', snapshot, changes, service('management'), lease);
      return { snapshot: mapped, episode, production };
    },
    /** A version whose audio is encoded, and its episode before it serves it. */
    async hostable(platform: Platform) {
      const { snapshot, episode, production } = await world.mapped(platform);
      const started = await send('production.start', production, {}, service('management'));
      const lease = await hosting.lease('encode_production', production.id);
      await send('production.complete', started, hosting.completion, service('encoder'), lease);
      return { snapshot, episode, production };
    },
    rendition: { format: 'mp3', sha256: 'a'.repeat(64), size_bytes: 384, duration_ms: 60_000 },
    /** A version that is ready, without its followers. */
    async prepared(platform: Platform) {
      const { snapshot } = await world.mapped(platform);
      const changes = { rendition: world.rendition, slots: [] };
      return send('content_snapshot.record_ready', snapshot, changes, service('management'));
    },
  };
  return world;
}
