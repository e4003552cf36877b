import { productCatalog } from '@longwave/command-catalog';
import { findAnywhere, findResource, type Actor, type Place, type ResourceReader } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { rolesIn, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { podcastOf } from './podcast-of.ts';

/** A command, as far as it says where it acts. */
interface Aim {
  readonly workspaceId: string;
  readonly subjectType: string;
  /** Null when it creates its subject. */
  readonly subjectId: string | null;
  readonly changes: unknown;
}

export interface Seen {
  readonly resource: ResourceView;
  /** The podcast that it belongs to, or is. */
  readonly podcastId: string | undefined;
}

/** Everywhere a principal sees something. */
function placesOf({ workspace_id: own, grants }: Principal): Place[] {
  const whole = new Set([own]);
  const podcasts = new Map<string, string[]>();
  for (const { workspace_id: workspaceId, podcast_id: podcastId, roles } of grants) {
    if (roles.length === 0) continue;
    if (podcastId === undefined) whole.add(workspaceId);
    else podcasts.set(workspaceId, [...(podcasts.get(workspaceId) ?? []), podcastId]);
  }
  return [
    ...[...whole].map((workspaceId) => ({ workspaceId })),
    ...[...podcasts]
      .filter(([workspaceId]) => !whole.has(workspaceId))
      .map(([workspaceId, podcastIds]) => ({ workspaceId, podcastIds })),
  ];
}

const isVisible = (actor: Actor, workspaceId: string, podcastId: string | undefined): boolean =>
  actor.kind === 'service' || (rolesIn(actor.principal, workspaceId, podcastId)?.length ?? 0) > 0;

/** Decides what an actor sees and as whom it acts; everything invisible looks unknown. */
export function createAccess(pool: Pool, reader: ResourceReader) {
  return {
    /** A resource that the actor may see. Throws the `not_found` of an unknown id for any other. */
    async see(actor: Actor, workspaceId: string | undefined, type: string, id: string): Promise<Seen> {
      const resource = await reader.getResource(workspaceId, type, id);
      const podcastId = await podcastOf(pool, productCatalog, type, id, resource.attributes);
      if (!isVisible(actor, resource.workspace_id, podcastId)) throw reader.absent(type, id);
      return { resource, podcastId };
    },

    /**
     * Where a list looks: a named parent decides for its children, a named workspace for what lies in it. Nothing visible gives no
     * place, as nothing there does.
     */
    async places(
      actor: Actor,
      workspaceId: string | undefined,
      links: Readonly<Record<string, string>>,
    ): Promise<Place[]> {
      const parents = { podcast: 'podcasts', episode: 'episodes' } as const;
      for (const [link, type] of Object.entries(parents)) {
        const id = links[link];
        const parent = id === undefined ? undefined : await findAnywhere(pool, type, id);
        if (!parent || (workspaceId !== undefined && parent.workspace_id !== workspaceId)) continue;
        const podcastId = await podcastOf(pool, productCatalog, type, parent.id, parent.attributes);
        return isVisible(actor, parent.workspace_id, podcastId) ? [{ workspaceId: parent.workspace_id }] : [];
      }
      if (actor.kind === 'service') return workspaceId === undefined ? [] : [{ workspaceId }];
      return placesOf(actor.principal).filter(
        (place) => workspaceId === undefined || place.workspaceId === workspaceId,
      );
    },

    /** Throws the 404 of an unknown workspace unless the actor sees all of this one. */
    checkWorkspace(actor: Actor, workspaceId: string): void {
      if (!isVisible(actor, workspaceId, undefined)) throw new Problem('not_found', 'There is no such workspace.');
    },

    /**
     * The actor with the roles it has where the command acts: at its subject, or at what the new subject belongs to. Throws
     * `not_found` when it sees nothing there, in the words of an unknown id.
     */
    async acting(actor: Actor, { workspaceId, subjectType: type, subjectId: id, changes }: Aim): Promise<Actor> {
      if (actor.kind === 'service' || actor.principal.workspace_id === workspaceId) return actor;
      const subject = id === null ? undefined : await findResource(pool, workspaceId, type, id);
      const attributes = id === null ? changes : subject?.attributes;
      const fields = typeof attributes === 'object' && attributes !== null ? attributes : {};
      const podcastId = await podcastOf(
        pool,
        productCatalog,
        type,
        subject?.id ?? null,
        fields as Record<string, unknown>,
      );
      const roles = rolesIn(actor.principal, workspaceId, podcastId) ?? [];
      if (roles.length > 0) return { ...actor, roles };
      throw id === null || !Object.hasOwn(productCatalog.resources, type)
        ? new Problem('not_found', 'There is no such workspace.')
        : reader.absent(type, id);
    },
  };
}

export type Access = ReturnType<typeof createAccess>;
