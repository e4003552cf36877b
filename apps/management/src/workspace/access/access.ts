import {
  isLegalText,
  operations,
  productCatalog,
  type ResourceDefinition,
  type ResourceType,
} from '@longwave/command-catalog';
import {
  accessOf,
  definitionOf,
  findOperationSubject,
  notFoundProblem,
  resourceView,
  type Actor,
  type ResourceRow,
  type Scope,
} from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import {
  analyticsRoles,
  managerRoles,
  type AccessNeed,
  type AccessTarget,
  type Principal,
  type Role,
} from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { hasGrantFor } from '../authority/authority-grant-table.ts';
import { granteesOf } from '../authority/grantee.ts';
import {
  findWithLineage,
  lineageOfNew,
  parentAttributes,
  type Lineage,
  type ResourceWithLineage,
} from './lineage-of.ts';

/** The part of a command that says where it acts. */
interface CommandTarget {
  /** Empty: that of the subject. */
  readonly workspaceId: string;
  readonly subjectType: string;
  /** Null when it creates its subject. */
  readonly subjectId: string | null;
  readonly changes: unknown;
}

/** An actor with the workspace and the podcast that its command acts on. */
interface ActorAt {
  readonly actor: Actor;
  readonly workspaceId: string;
  /** The command's subject, if finding workspace and podcast took reading it. */
  readonly subject: ResourceRow | undefined;
  /** The `not_found` of what lies below a podcast or episode that has ended for good; a used key is answered nevertheless. */
  readonly refusal?: Problem;
}

export interface VisibleResource {
  readonly resource: ResourceView;
  /** The podcast that it belongs to, or is. */
  readonly podcastId: string | undefined;
}

/** Where a command acts. */
interface Located extends Lineage, Partial<Pick<ResourceWithLineage, 'row'>> {
  /** The workspace of an operation that the command is about; its podcast is that of the operation's subject. */
  readonly operationIn?: string;
}

/** The scopes in which a principal sees something. */
function scopesOf({ workspace_id: own, grants }: Principal): Scope[] {
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

/** Whether an actor has this access in a workspace, to what belongs to a podcast or to none; without a need, whether it sees it. */
const isPermitted = (actor: Actor, workspaceId: string, podcastId: string | undefined, need?: AccessNeed): boolean =>
  actor.kind === 'service' || accessOf({ ...actor, podcastId }, workspaceId, need).outcome === 'permitted';

/** Whether a type names its readers, and the actor is none of them in this workspace. */
export function isUnreadable(actor: Actor, workspaceId: string, type: string): boolean {
  const types: Readonly<Record<string, ResourceDefinition>> = productCatalog.resources;
  const readers = Object.hasOwn(types, type) ? types[type]!.readers : undefined;
  return readers !== undefined && !isPermitted(actor, workspaceId, undefined, { roles: readers });
}

/** The types of which the actor reads nothing in this workspace. */
export const unreadableTypes = (actor: Actor, workspaceId: string): string[] =>
  Object.keys(productCatalog.resources).filter((type) => isUnreadable(actor, workspaceId, type));

/** Whether an actor has one of these roles for what belongs to a podcast of a workspace, or to none. */
export const holdsRole = (actor: Actor, { workspaceId, podcastId }: AccessTarget, roles: readonly Role[]): boolean =>
  isPermitted(actor, workspaceId, podcastId, { roles });

/** Throws the `not_found` of an unknown workspace when hosting-exchange, which speaks for outsiders, leaves open where it acts or reads. */
export function checkNamed(actor: Actor, workspaceId: string | undefined): void {
  if (actor.kind === 'service' && actor.name === 'hosting-exchange' && !workspaceId)
    throw new Problem('not_found', 'There is no such workspace.');
}

/** Whether the actor manages the members of a workspace. */
const managesMembers = (actor: Actor, workspaceId: string): boolean =>
  isPermitted(actor, workspaceId, undefined, { roles: managerRoles });

/** Whether a resource names the person as its party: the grantee of an authority grant that has not ended. */
async function isParty(pool: Pool, actor: Actor, row: ResourceRow | undefined): Promise<boolean> {
  if (actor.kind !== 'principal' || !row || !isRowOf(row, 'authority_grants')) return false;
  const user = actor.principal.user_id;
  if (user === undefined || !['proposed', 'active'].includes(row.lifecycle_state)) return false;
  return (await granteesOf(pool, row.attributes)).includes(user);
}

const isRowOf = <T extends ResourceType>(row: ResourceRow, type: T): row is ResourceRow<T> & ResourceRow =>
  row.resource_type === type;

/** Decides what an actor sees and where its commands act. An invisible resource looks like an unknown one. */
export function createAccess(pool: Pool) {
  const find = async (
    workspaceId: string | undefined,
    type: string,
    id: string,
  ): Promise<ResourceWithLineage | undefined> =>
    isLegalText(id) ? findWithLineage(pool, productCatalog, workspaceId, type, id) : undefined;

  /** A resource that the actor may read, or that names it as a party, whether or not its podcast or episode has ended. */
  async function findInSight(
    actor: Actor,
    workspaceId: string | undefined,
    type: string,
    id: string,
  ): Promise<ResourceWithLineage | undefined> {
    const found = await find(workspaceId, type, id);
    if (!found) return undefined;
    const { row, podcastId } = found;
    const isSeen = isPermitted(actor, row.workspace_id, podcastId) || (await isParty(pool, actor, row));
    return isSeen && !isUnreadable(actor, row.workspace_id, type) ? found : undefined;
  }

  /** The podcast that a command acts on. Reads the subject only when its workspace or its podcast is not known otherwise. */
  async function locate({ workspaceId, subjectType: type, subjectId: id, changes }: CommandTarget): Promise<Located> {
    const nowhere: Lineage = { podcastId: undefined, ended: undefined };
    if (id === null) return lineageOfNew(pool, productCatalog, workspaceId, type, changes);
    if (!isLegalText(id)) return nowhere;
    if (type === operations.type) {
      const about = await findOperationSubject(pool, workspaceId === '' ? undefined : workspaceId, id);
      if (!about) return nowhere;
      const found = await find(about.workspace_id, about.subject_type, about.subject_id);
      return { ...nowhere, podcastId: found?.podcastId, operationIn: about.workspace_id };
    }
    if (workspaceId === '') return (await find(undefined, type, id)) ?? nowhere;
    if (type === 'podcasts') return { ...nowhere, podcastId: id };
    return (parentAttributes(productCatalog, type).length > 0 && (await find(workspaceId, type, id))) || nowhere;
  }

  return {
    /**
     * A resource that the actor may see. Throws the `not_found` of an unknown id for any other, and for people also when its podcast or
     * episode has ended for good; that podcast or episode itself stays readable.
     */
    async getVisible(
      actor: Actor,
      workspaceId: string | undefined,
      type: string,
      id: string,
    ): Promise<VisibleResource> {
      const definition = definitionOf(productCatalog, type);
      checkNamed(actor, workspaceId);
      const found = await findInSight(actor, workspaceId, type, id);
      if (!found || (found.ended && actor.kind === 'principal')) throw notFoundProblem(definition, id);
      const { row, podcastId } = found;
      return { resource: resourceView(definition, row), podcastId };
    },

    /**
     * Throws the `not_found` of an unknown operation unless the actor may read its subject, or the subject of the operation that this is. What
     * was done stays readable when the podcast or episode of the subject has ended for good. A new resource that waits for its review, or was
     * declined, is not there: everybody who sees the whole workspace, and may read its type, sees its operation.
     */
    async checkOperationSubject(
      actor: Actor,
      workspaceId: string,
      { type, id, version }: { readonly type: string; readonly id: string; readonly version: number },
    ): Promise<void> {
      if (type === operations.type) {
        const about = await findOperationSubject(pool, workspaceId, id);
        if (!about) throw notFoundProblem(operations, id);
        const subject = { type: about.subject_type, id: about.subject_id, version: about.subject_version };
        return this.checkOperationSubject(actor, workspaceId, subject);
      }
      if (version === 0) {
        this.checkWorkspace(actor, workspaceId);
        if (isUnreadable(actor, workspaceId, type)) throw notFoundProblem(operations, id);
        return;
      }
      if (!(await findInSight(actor, workspaceId, type, id))) throw notFoundProblem(operations, id);
    },

    /**
     * The scopes of a list of this type: that of a named parent, else the named workspace, else all that the actor sees, but where it may not
     * read the type, nor, for people, below what has ended for good. Without a type those of everything: see `unreadableTypes`.
     */
    async scopes(
      actor: Actor,
      workspaceId: string | undefined,
      type: string | undefined,
      links: Readonly<Record<string, string>> = {},
    ): Promise<Scope[]> {
      const isReadable = (scope: Scope) => type === undefined || !isUnreadable(actor, scope.workspaceId, type);

      const parents = { podcast: 'podcasts', episode: 'episodes' } as const;
      for (const [link, parentType] of Object.entries(parents)) {
        const id = links[link];
        const parent = id === undefined ? undefined : await find(workspaceId, parentType, id);
        if (!parent) continue;
        const { row, podcastId, ended } = parent;
        const { terminalStates }: ResourceDefinition = productCatalog.resources[parentType];
        const isOver = ended !== undefined || terminalStates.includes(row.lifecycle_state);
        if (!isPermitted(actor, row.workspace_id, podcastId) || (isOver && actor.kind === 'principal')) return [];
        return [{ workspaceId: row.workspace_id }].filter(isReadable);
      }
      if (actor.kind === 'service') return workspaceId === undefined ? [] : [{ workspaceId }];
      return scopesOf(actor.principal).filter(
        (scope) => (workspaceId === undefined || scope.workspaceId === workspaceId) && isReadable(scope),
      );
    },

    /** Throws the `not_found` of an unknown workspace unless the actor sees the whole workspace. */
    checkWorkspace(actor: Actor, workspaceId: string): void {
      if (!isPermitted(actor, workspaceId, undefined)) throw new Problem('not_found', 'There is no such workspace.');
    },

    /** Whether the actor sees the whole workspace. */
    seesWorkspace: (actor: Actor, workspaceId: string): boolean => isPermitted(actor, workspaceId, undefined),

    /** Whether the actor may read a resource, also when its podcast or episode has ended for good. */
    sees: async (actor: Actor, workspaceId: string, type: string, id: string): Promise<boolean> =>
      (await findInSight(actor, workspaceId, type, id)) !== undefined,

    /** Whether a resource of the workspace names the person as its party. */
    isPartyIn: async (actor: Actor, workspaceId: string): Promise<boolean> =>
      actor.kind === 'principal' &&
      actor.principal.user_id !== undefined &&
      (await hasGrantFor(pool, workspaceId, actor.principal.user_id)),

    /** Throws the `not_found` of an unknown workspace unless the actor sees anything in the workspace: all of it, or a podcast. */
    checkAnywhereIn(actor: Actor, workspaceId: string): void {
      const sees =
        actor.kind === 'service' || scopesOf(actor.principal).some((scope) => scope.workspaceId === workspaceId);
      if (!sees) throw new Problem('not_found', 'There is no such workspace.');
    },

    managesMembers,

    /** Throws `permission_denied` unless the actor manages the members of a visible workspace. */
    checkManager(actor: Actor, workspaceId: string): void {
      if (!managesMembers(actor, workspaceId))
        throw new Problem('permission_denied', 'Only the owner and members who manage members may read this.');
    },

    /** Throws `permission_denied` unless the actor may see the analytics of a visible resource. */
    checkAnalytics(actor: Actor, { resource, podcastId }: VisibleResource): void {
      if (!isPermitted(actor, resource.workspace_id, podcastId, { roles: analyticsRoles }))
        throw new Problem('permission_denied', 'You may not see analytics of this podcast.');
    },

    /**
     * The actor with the workspace and the podcast of the command's subject, or of the parent of a new one. Throws the `not_found` of an
     * unknown id when the actor sees nothing there. The pipeline decides later what the actor may do, and refuses what lies below a podcast
     * or episode that has ended for good: it answers a used key first. It also refuses a text that no id can be; here that names nothing.
     */
    async actorAt(actor: Actor, target: CommandTarget): Promise<ActorAt> {
      const { subjectType: type, subjectId: id } = target;
      if (actor.kind === 'service') {
        checkNamed(actor, target.workspaceId);
        return { actor, workspaceId: target.workspaceId, subject: undefined };
      }
      const { podcastId, ended, row: subject, operationIn }: Located = await locate(target);
      const workspaceId = subject?.workspace_id ?? operationIn ?? target.workspaceId;
      const named = type === 'authority_grants' && id !== null ? await find(workspaceId, type, id) : undefined;
      const placed = { ...actor, podcastId, ...((await isParty(pool, actor, named?.row)) && { isParty: true }) };
      if (accessOf(placed, workspaceId).outcome === 'unknown' && placed.isParty !== true)
        throw id === null || !(type === operations.type || Object.hasOwn(productCatalog.resources, type))
          ? new Problem('not_found', 'There is no such workspace.')
          : notFoundProblem(type === operations.type ? operations : definitionOf(productCatalog, type), id);
      if (!ended) return { actor: placed, workspaceId, subject };
      const refusal =
        id === null
          ? notFoundProblem(productCatalog.resources[ended.type], ended.id)
          : notFoundProblem(definitionOf(productCatalog, type), id);
      return { actor: placed, workspaceId, subject, refusal };
    },
  };
}

export type Access = ReturnType<typeof createAccess>;
