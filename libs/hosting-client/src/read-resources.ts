import {
  productCatalog,
  typedResource,
  type ProductResource,
  type Resource,
  type ResourceType,
} from '@longwave/command-catalog';
import type { ListSort, ResourceView } from '@longwave/events';
import { isId } from '@longwave/ids';
import { isProblem } from '@longwave/problems';
import type { RpcChannel } from '@longwave/rpc';
import { OperationServiceService, ResourceServiceService } from '@longwave/rpc/resource';
import { accessTo, type Access } from './access.ts';
import { callOptions, notFoundProblem, type Asker } from './asker.ts';

/** A resource that the asker sees, and the asker's rights on it. */
export interface Found<T extends ProductResource> {
  readonly resource: Resource<T>;
  readonly access: Access;
}

/** The filter of a listing of one type. */
export interface ListInput {
  /** Link name → id that it must have. */
  readonly links?: Readonly<Record<string, string>>;
  /** Absent: every workspace where the asker sees something. */
  readonly workspaceId?: string | undefined;
  /** Absent: every state but the hidden ones. */
  readonly states?: readonly string[];
  /** Default: created_at. */
  readonly sort?: ListSort | undefined;
  readonly updatedSince?: Date | undefined;
  readonly titleContains?: string | undefined;
}

/** States that clients do not see: the resource is not found, and lists leave it out. */
export const hiddenStates: ReadonlySet<string> = new Set(['archived', 'deleted', 'expired', 'aborted']);

export const isTerminal = ({ lifecycle_state: state }: ResourceView): boolean => hiddenStates.has(state);

/** A page of a list, and where the next one begins. */
interface ResourcePage<T extends ProductResource> {
  readonly items: readonly Resource<T>[];
  readonly nextCursor: string;
  readonly limit: number;
}

const pageSize = 200;
const smallPageSize = 5;

/** A resource as management sends it: checked when it was stored, so not again by every reader. */
export const parseResource = <T extends ResourceType>(json: string, type: T): Resource<T> =>
  typedResource(JSON.parse(json) as ResourceView, type);

/** Throws `not_found` for an id that is malformed, unknown or of another workspace. */
async function findVisible<T>(noun: string, prefix: string, id: string, find: () => Promise<T>): Promise<T> {
  if (!isId(id, prefix)) throw notFoundProblem(noun, id);
  return find().catch((error: unknown) => {
    throw isProblem(error, 'not_found') ? notFoundProblem(noun, id) : error;
  });
}

/** Reads of resources and operations. */
export function resourceReads(channel: RpcChannel) {
  const resources = channel.client(ResourceServiceService);
  const operations = channel.client(OperationServiceService);

  /**
   * One page of everything visible that is asked for, in its order; `nextCursor` is empty on the last one. `limit` of the answer is smaller
   * where resources are so large that one message cannot hold as many.
   */
  async function listPage<T extends ProductResource>(
    asker: Asker,
    type: T,
    input: ListInput,
    { limit, cursor }: { readonly limit: number; readonly cursor: string },
  ): Promise<ResourcePage<T>> {
    const { states = productCatalog.resources[type].states.filter((state) => !hiddenStates.has(state)) } = input;
    const request = {
      workspaceId: input.workspaceId ?? '',
      resourceType: type,
      links: { ...input.links },
      lifecycleStates: [...states],
      sort: input.sort,
      ...(input.updatedSince && { updatedSinceMs: BigInt(input.updatedSince.getTime()) }),
      titleContains: input.titleContains,
    };
    let size = limit;
    const ask = () => resources.listResources({ ...request, limit: size, cursor }, callOptions(asker));
    const page = await ask().catch((error: unknown) => {
      // One message holds 16 MiB; resources may be large, and the cursor is good for pages of any size.
      const isTooLarge = isProblem(error, 'internal_error') && size > smallPageSize;
      if (!isTooLarge) throw error;
      size = smallPageSize;
      return ask();
    });
    const items = page.resourcesJson.map((json) => parseResource(json, type));
    return { items, nextCursor: page.nextCursor, limit: size };
  }

  /** Everything visible that is asked for, in its order, a page at a time. */
  async function* pages<T extends ProductResource>(
    asker: Asker,
    type: T,
    input: ListInput = {},
  ): AsyncGenerator<readonly Resource<T>[]> {
    let [cursor, limit] = ['', pageSize];
    do {
      const page = await listPage(asker, type, input, { limit, cursor });
      yield page.items;
      ({ nextCursor: cursor, limit } = page);
    } while (cursor !== '');
  }

  return {
    /** Wherever the asker sees it. Throws `not_found`, also for a resource in a hidden state unless `includeHidden`. */
    find<T extends ProductResource>(
      asker: Asker,
      type: T,
      id: string,
      options: { readonly includeHidden?: boolean } = {},
    ): Promise<Found<T>> {
      const { noun, prefix } = productCatalog.resources[type];
      const request = { workspaceId: '', resourceType: type, resourceId: id };
      return findVisible(noun, prefix, id, async () => {
        const { resourceJson, podcastId } = await resources.getResource(request, callOptions(asker));
        const resource = parseResource(resourceJson, type);
        if (isTerminal(resource) && !options.includeHidden) throw notFoundProblem(noun, id);
        const access = accessTo(asker, resource.workspace_id, podcastId === '' ? undefined : podcastId);
        // Management and the credential's own grants may disagree for a moment, when a grant ends.
        if (!access) throw notFoundProblem(noun, id);
        return { resource, access };
      });
    },

    listPage,

    pages,

    /** Everything visible that is asked for, oldest first. */
    async list<T extends ProductResource>(asker: Asker, type: T, input: ListInput = {}): Promise<Resource<T>[]> {
      const found: Resource<T>[] = [];
      for await (const page of pages(asker, type, input)) found.push(...page);
      return found;
    },

    /** An operation of the asker's own workspace, or of one where it has a grant. */
    findOperation(asker: Asker, id: string): Promise<unknown> {
      const workspaces = new Set([asker.workspaceId, ...asker.grants.map(({ workspaceId }) => workspaceId)]);
      return findVisible('operation', 'op', id, async () => {
        for (const workspaceId of workspaces) {
          const found = await operations
            .getOperation({ workspaceId, operationId: id }, callOptions(asker))
            .catch((error: unknown) => {
              if (isProblem(error, 'not_found')) return undefined;
              throw error;
            });
          if (found) return JSON.parse(found.operationJson) as unknown;
        }
        throw notFoundProblem('operation', id);
      });
    },
  };
}
