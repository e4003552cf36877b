import { productCatalog, type ResourceDefinition } from '@longwave/command-catalog';
import { findAnywhere, type Actor, type Place, type ResourceReader } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { analyticsRoles, rolesIn, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { lineageOf } from './lineage-of.ts';

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
    /**
     * A resource that the actor may see. Throws the `not_found` of an unknown id for any other, and for a person when the podcast or
     * episode that it hangs on has ended for good; that one itself stays readable.
     */
    async see(actor: Actor, workspaceId: string | undefined, type: string, id: string): Promise<Seen> {
      const resource = await reader.getResource(workspaceId, type, id);
      const { podcastId, ended } = await lineageOf(pool, productCatalog, resource.workspace_id, type, { id });
      if (!isVisible(actor, resource.workspace_id, podcastId) || (ended && actor.kind === 'principal'))
        throw reader.absent(type, id);
      return { resource, podcastId };
    },

    /**
     * Where a list looks: a named parent decides for its children, a named workspace for what lies in it. Nothing visible gives no
     * place, as nothing there does, and for a person nothing below what has ended for good.
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
        const { podcastId, ended } = await lineageOf(pool, productCatalog, parent.workspace_id, type, parent);
        const { terminalStates }: ResourceDefinition = productCatalog.resources[type];
        const isOver = ended !== undefined || terminalStates.includes(parent.lifecycle_state);
        if (!isVisible(actor, parent.workspace_id, podcastId) || (isOver && actor.kind === 'principal')) return [];
        return [{ workspaceId: parent.workspace_id }];
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

    /** Throws `permission_denied` unless the actor may see analytics of what it sees. */
    checkAnalytics(actor: Actor, { resource, podcastId }: Seen): void {
      if (actor.kind === 'service') return;
      if (!rolesIn(actor.principal, resource.workspace_id, podcastId)?.some((role) => analyticsRoles.includes(role)))
        throw new Problem('permission_denied', 'You may not see analytics of this podcast.');
    },

    /**
     * The actor with the roles it has where the command acts: at its subject, or at what the new subject belongs to. Throws
     * `not_found` when it sees nothing there, in the words of an unknown id, and when a podcast or episode above has ended for good.
     */
    async acting(actor: Actor, { workspaceId, subjectType: type, subjectId: id, changes }: Aim): Promise<Actor> {
      if (actor.kind === 'service') return actor;
      const { podcastId, ended } = await lineageOf(
        pool,
        productCatalog,
        workspaceId,
        type,
        id === null ? { changes } : { id },
      );
      const isOwn = actor.principal.workspace_id === workspaceId;
      const roles = rolesIn(actor.principal, workspaceId, podcastId) ?? [];
      if (!isOwn && roles.length === 0)
        throw id === null || !Object.hasOwn(productCatalog.resources, type)
          ? new Problem('not_found', 'There is no such workspace.')
          : reader.absent(type, id);
      if (ended) throw id === null ? reader.absent(ended.type, ended.id) : reader.absent(type, id);
      return isOwn ? actor : { ...actor, roles };
    },
  };
}

export type Access = ReturnType<typeof createAccess>;
