import { randomBytes } from 'node:crypto';
import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import { apply } from './_apply.ts';
import { publishShow } from './_stitched.ts';
import { audio, eventOf, type Bench } from './_support.ts';

/** Applies events and moves the clock on, so that the app looks at them at once. */
export async function applyNow(bench: Bench, ...events: readonly DomainEvent[]): Promise<void> {
  await apply(bench, ...events);
  bench.setClock(new Date(bench.now().getTime() + 2_000));
}

/** The file of the platform that `hosted` names. */
export const master = 'https://host.example/master-1.mp3';

const messageOf = (authorityId: string, sourceId: string, version: number) => ({
  ...{ authority_id: authorityId, signed_by: newId('key'), stream_id: 'show:1', sequence: version },
  ...{ message_digest: `sha256:${'0'.repeat(64)}`, source_id: sourceId, source_version: version },
});

/** A version of an episode that another platform hosts. */
export const snapshotOf = (
  {
    authorityId,
    sourceId,
    version = 1,
    id = newId('csn'),
  }: { authorityId: string; sourceId: string; version?: number; id?: string },
  state: string,
  attributes: Record<string, unknown> = {},
  rights?: Record<string, unknown>,
) =>
  eventOf('content_snapshots', id, 1, state, {
    ...messageOf(authorityId, sourceId, version),
    content: {
      episode: {
        guid: 'g',
        audio_master: { url: `https://host.example/master-${version}.mp3` },
        ...(rights && { rights }),
      },
    },
    ...attributes,
  });

/** The grant of a platform, or of somebody else. */
export const grantOf = (
  authorityId: string,
  state: string,
  grantee: Record<string, unknown> = { client_id: 'northern' },
) =>
  eventOf('authority_grants', authorityId, 1, state, {
    ...{ grantee, role: 'machine', expires_at: '2027-01-01T00:00:00.000Z' },
  });

export const aliasOf = (
  { authorityId, sourceId }: { authorityId: string; sourceId: string },
  { state = 'active', route = 'platform_controlled', when_unavailable = 'gone', host = '', path_slug = '' } = {},
) => {
  const place = { host: host || `h${randomBytes(4).toString('hex')}`, path_slug: path_slug || 'Show.One_1~a' };
  return eventOf('delivery_aliases', newId('dal'), 1, state, {
    ...messageOf(authorityId, 'alias-1', 1),
    ...{ alias: 'alias-1', ...place, address: `${place.host}/${place.path_slug}`, state },
    target: { type: 'episode', source_id: sourceId },
    route_policy: { surface_id: 'apps', route, when_unavailable },
    supersedes_version: null,
  });
};

export const pathOf = ({ after: { attributes } }: DomainEvent) =>
  `/delivery/v1/x/${String(attributes['host'])}/${String(attributes['path_slug'])}.mp3`;

export interface Hosted extends Awaited<ReturnType<typeof publishShow>> {
  readonly authorityId: string;
  readonly sourceId: string;
  readonly snapshot: DomainEvent;
  readonly alias: DomainEvent;
  readonly path: string;
}

/** An episode of another platform that serves here, and an address of it. */
export async function hosted(
  bench: Bench,
  policy: Parameters<typeof aliasOf>[1] = {},
  {
    content = audio(60),
    rights,
    episode = {},
  }: { content?: Buffer; rights?: Record<string, unknown>; episode?: Record<string, unknown> } = {},
): Promise<Hosted> {
  const id = newId('csn');
  const show = await publishShow(bench, content, { snapshot_id: id, ...episode });
  const [authorityId, sourceId] = [newId('agr'), `ep-${randomBytes(4).toString('hex')}`];
  const mapped = { podcast_id: show.podcastId, episode_id: show.episodeId, production_id: show.productionId };
  const snapshot = snapshotOf({ authorityId, sourceId, id }, 'ready', mapped, rights);
  const alias = aliasOf({ authorityId, sourceId }, policy);
  await apply(bench, snapshot, alias);
  return { ...show, authorityId, sourceId, snapshot, alias, path: pathOf(alias) };
}
