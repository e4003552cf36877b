import type { Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import type { CallerName } from '@longwave/services';

export const hour = 3600_000;

export const service = (name: CallerName): Actor => ({ kind: 'service', name });

/** A window that is open. */
export const window = {
  start: new Date(Date.now() - hour).toISOString(),
  end: new Date(Date.now() + 24 * hour).toISOString(),
};

export const digest = 'a'.repeat(64);

/** An ad's prepared stream. */
export const media = {
  stream_format: 'mp3/128000/48000/2',
  storage_key: `media/${digest}`,
  sha256: digest,
  size_bytes: 384,
  duration_ms: 24,
  loudness_lufs: -16,
  true_peak_dbtp: -2,
};

export const hlsTrack = {
  codec: 'mp4a.40.2',
  storage_key: `media/${'b'.repeat(64)}`,
  sha256: 'b'.repeat(64),
  size_bytes: 1605,
  duration_ms: 43,
  index: { storage_key: `media/${'c'.repeat(64)}`, sha256: 'c'.repeat(64), size_bytes: 90 },
};

/** Pictures with the cells of that sound. */
export const pictureTrack = {
  ...hlsTrack,
  codec: 'avc1.64001f',
  width: 1280,
  height: 720,
  frame_rate: { frames: 25, seconds: 1 },
};

/** All pictures of an ad. */
export const pictures = { v360: pictureTrack, v720: pictureTrack, v1080: pictureTrack, iframe: pictureTrack };

/** A person of another workspace, with roles in the whole of this one. */
export const guestIn = (workspaceId: string, actor: Actor, roles: Principal['roles']): Actor =>
  actor.kind === 'principal'
    ? { ...actor, principal: { ...actor.principal, grants: [{ workspace_id: workspaceId, roles }] } }
    : actor;

/** A person of another workspace, with the role of a publisher for one podcast of this one. */
export function publisherOf(workspaceId: string, podcastId: string, actor: Actor) {
  if (actor.kind !== 'principal') throw new Error('a person');
  const roles: Principal['roles'] = ['viewer', 'publisher'];
  const grants = [{ workspace_id: workspaceId, podcast_id: podcastId, roles }];
  return { ...actor, principal: { ...actor.principal, grants } };
}

/** A person of a workspace with every role, or with the given ones. */
export const person = (
  workspaceId: string,
  roles: Principal['roles'] = ['owner', 'editor', 'trafficker', 'sales', 'admin', 'publisher'],
): Actor => ({
  kind: 'principal',
  principal: {
    account_id: newId('acc'),
    workspace_id: workspaceId,
    roles,
    grants: [],
    credential_id: newId('crd'),
    credential_kind: 'api_key',
    read_only: false,
  },
});

/** The production that an episode plays. */
export async function productionOf(pool: Pool, episode: ResourceView): Promise<ResourceView> {
  const { rows } = await pool.query<ResourceView>(
    'select resource_type, id, version, attributes from resource where id = $1',
    [episode.attributes['current_production_id']],
  );
  return rows[0]!;
}

/** The newest job of a subject; undefined when it never had one. */
export async function jobOf(pool: Pool, subjectId: string) {
  const { rows } = await pool.query<{ state: string; stop_requested: boolean; input: Record<string, unknown> }>(
    'select state, stop_requested, input from job where subject_id = $1 order by created_at desc limit 1',
    [subjectId],
  );
  return rows[0];
}

/** The encoding time of a workspace, in milliseconds; undefined before its first encoding. */
export async function balanceOf(pool: Pool, workspaceId: string) {
  const { rows } = await pool.query<{ reserved: number; used: number }>(
    'select reserved_ms::int as reserved, used_ms::int as used from encoding_balance where workspace_id = $1',
    [workspaceId],
  );
  return rows[0];
}

/** The clip that the audio of a production becomes. */
export const clipOf = ({ id, attributes }: ResourceView) => ({
  episode_id: attributes['episode_id'],
  production_id: id,
  file_format: 'mp3',
  sha256: 'a'.repeat(64),
  size: 384,
  duration_ms: 24,
});
