import {
  productCatalog,
  typedResource,
  type ChangesInput,
  type CommandType,
  type Resource,
  type SubjectOf,
} from '@longwave/command-catalog';
import { resourceViewSchema, type ListSort, type ResourceView } from '@longwave/events';
import { isId, newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import type { RpcChannel } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import type { Principal } from '@longwave/rpc/credential';
import { FeedServiceService, type ImportItem } from '@longwave/rpc/feed';
import {
  EncodingQueueServiceService,
  EncodingTimeServiceService,
  OperationServiceService,
  ResourceServiceService,
} from '@longwave/rpc/resource';
import { UploadServiceService } from '@longwave/rpc/upload';
import { z } from 'zod';

export type ResourceType = keyof typeof productCatalog.resources;
export type ProductCommand = CommandType<typeof productCatalog>;

/** Who asks, and until when an answer is of use. */
export type Asker = Principal & { readonly deadline: Date };

/** One REST write, as management wants it. */
export interface CommandInput<C extends ProductCommand> {
  readonly type: C;
  /** Where the subject lives, or shall live; absent: the asker's own workspace. */
  readonly workspaceId?: string | undefined;
  /** Absent for creates. */
  readonly subjectId?: string;
  readonly changes: ChangesInput<C>;
  /** From the client; absent: a key of its own for this request. */
  readonly idempotencyKey?: string | undefined;
  /** The header as it came. */
  readonly ifMatch?: string | undefined;
}

/** A resource wherever the asker sees it. */
export interface Found<T extends ResourceType> {
  readonly resource: Resource<T>;
  /** The podcast that it belongs to, or is. */
  readonly podcastId: string | undefined;
}

export interface Executed<T extends ResourceType = ResourceType> {
  /** As it is after the command. */
  readonly resource: Resource<T>;
  readonly operationId: string;
  /** What else changed with it. */
  readonly consequences: z.output<typeof operationSchema>['consequences'];
  /** True when the same key was accepted before. */
  readonly replayed: boolean;
}

/** Which resources of a type are listed. */
export interface ListInput {
  /** Link name → id that it must have. */
  readonly links?: Readonly<Record<string, string>>;
  /** Absent: every workspace where the asker sees something. */
  readonly workspaceId?: string | undefined;
  /** Absent: any that has not ended for good. */
  readonly states?: readonly string[];
  /** Default: created_at. */
  readonly sort?: ListSort | undefined;
  readonly updatedSince?: Date | undefined;
  readonly titleContains?: string | undefined;
}

/** States in which a resource is no longer there for REST: reads answer 404 and lists leave it out. */
export const hiddenStates: ReadonlySet<string> = new Set(['archived', 'deleted', 'expired', 'aborted']);

export const isTerminal = ({ lifecycle_state: state }: ResourceView): boolean => hiddenStates.has(state);

const pageSize = 200;
const smallPageSize = 5;

/** Contract, Errors, row 404: the same text for an absent and for an invisible object. */
export const notFound = (noun: string, id: string): Problem =>
  new Problem('not_found', `The ${noun} with id ${id} could not be found.`);

const isCode = (error: unknown, code: string): boolean => error instanceof Problem && error.code === code;

const operationSchema = z.object({
  id: z.string(),
  consequences: z
    .array(z.object({ type: z.string(), id: z.string(), state: z.string(), event: z.string() }))
    .default([]),
});

const parseResource = <T extends ResourceType>(json: string, type: T): Resource<T> =>
  typedResource(resourceViewSchema.parse(JSON.parse(json)), type);

/** Management as the gateway uses it: reads and commands in a principal's workspace, refusals in REST's words. */
export function createManagement(channel: RpcChannel) {
  const commands = channel.client(CommandServiceService);
  const resources = channel.client(ResourceServiceService);
  const operations = channel.client(OperationServiceService);
  const uploads = channel.client(UploadServiceService);
  const feeds = channel.client(FeedServiceService);
  const encodingTime = channel.client(EncodingTimeServiceService);
  const encodingQueue = channel.client(EncodingQueueServiceService);
  const as = ({ statement, deadline }: Asker) => ({ principalStatement: statement, deadline });

  /** Throws REST's 404 for an id that is malformed, unknown or of another workspace. */
  async function read<T>(noun: string, prefix: string, id: string, ask: () => Promise<T>): Promise<T> {
    if (!isId(id, prefix)) throw notFound(noun, id);
    return ask().catch((error: unknown) => {
      throw isCode(error, 'not_found') ? notFound(noun, id) : error;
    });
  }

  /** Everything visible that is asked for, in its order, a page at a time. */
  async function* pages<T extends ResourceType>(
    asker: Asker,
    type: T,
    input: ListInput = {},
  ): AsyncGenerator<Resource<T>[]> {
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
    let cursor = '';
    let limit = pageSize;
    do {
      const ask = () => resources.listResources({ ...request, limit, cursor }, as(asker));
      const page = await ask().catch((error: unknown) => {
        // One message holds 16 MiB; resources may be large, and the cursor is good for pages of any size.
        if (!isCode(error, 'internal_error') || limit === smallPageSize) throw error;
        limit = smallPageSize;
        return ask();
      });
      yield page.resourcesJson.map((json) => parseResource(json, type));
      cursor = page.nextCursor;
    } while (cursor !== '');
  }

  return {
    nounOf: (type: ResourceType): string => productCatalog.resources[type].noun,

    /** Wherever the asker sees it. Throws REST's 404 also for what was archived or deleted, unless `gone` is asked for. */
    find<T extends ResourceType>(
      asker: Asker,
      type: T,
      id: string,
      options: { readonly gone?: boolean } = {},
    ): Promise<Found<T>> {
      const { noun, prefix } = productCatalog.resources[type];
      const request = { workspaceId: '', resourceType: type, resourceId: id };
      return read(noun, prefix, id, async () => {
        const { resourceJson, podcastId } = await resources.getResource(request, as(asker));
        const resource = parseResource(resourceJson, type);
        if (isTerminal(resource) && !options.gone) throw notFound(noun, id);
        return { resource, podcastId: podcastId === '' ? undefined : podcastId };
      });
    },

    pages,

    /** Everything visible that is asked for, oldest first. */
    async list<T extends ResourceType>(asker: Asker, type: T, input: ListInput = {}): Promise<Resource<T>[]> {
      const found: Resource<T>[] = [];
      for await (const page of pages(asker, type, input)) found.push(...page);
      return found;
    },

    async execute<C extends ProductCommand>(asker: Asker, input: CommandInput<C>): Promise<Executed<SubjectOf<C>>> {
      const subject: SubjectOf<C> = productCatalog.commands[input.type].subject;
      const version = /^"?(\d{1,9})\./.exec(input.ifMatch ?? '')?.[1];
      const request = {
        workspaceId: input.workspaceId ?? asker.workspaceId,
        commandType: input.type,
        idempotencyKey: input.idempotencyKey ?? newId('req'),
        ifMatch: input.ifMatch ?? '',
        subjectType: subject,
        subjectId: input.subjectId ?? '',
        subjectVersion: version === undefined ? undefined : Number(version),
        changesJson: JSON.stringify(input.changes),
        reasonJson: '',
      };
      try {
        const { resourceJson, operationJson, replayed } = await commands.execute(request, as(asker));
        const { id, consequences } = operationSchema.parse(JSON.parse(operationJson));
        return { resource: parseResource(resourceJson, subject), operationId: id, consequences, replayed };
      } catch (error) {
        const gone = isCode(error, 'not_found') && input.subjectId !== undefined;
        throw gone ? notFound(productCatalog.resources[subject].noun, input.subjectId) : error;
      }
    },

    /** An operation of the asker's own workspace, or of one where it works. */
    findOperation(asker: Asker, id: string): Promise<unknown> {
      const workspaces = new Set([asker.workspaceId, ...asker.grants.map(({ workspaceId }) => workspaceId)]);
      return read('operation', 'op', id, async () => {
        for (const workspaceId of workspaces) {
          const found = await operations
            .getOperation({ workspaceId, operationId: id }, as(asker))
            .catch((error: unknown) => {
              if (isCode(error, 'not_found')) return undefined;
              throw error;
            });
          if (found) return JSON.parse(found.operationJson) as unknown;
        }
        throw notFound('operation', id);
      });
    },

    /** Encoding time of the asker's own workspace in the present month. */
    findEncodingTime: (asker: Asker) => encodingTime.getEncodingTime({ workspaceId: asker.workspaceId }, as(asker)),

    /** Where a production stands in the queue of encodings; undefined when it is not being encoded. */
    findQueuePlace: async (asker: Asker, { workspace_id: workspaceId, id: productionId }: ResourceView) =>
      (await encodingQueue.getQueuePlace({ workspaceId, productionId }, as(asker))).place,

    /** The live feed of a podcast, as directories see it. */
    checkFeed: (asker: Asker, input: { workspaceId: string; podcastId: string }) => feeds.checkFeed(input, as(asker)),

    /** Waits for the feed of a podcast that was published a moment ago; false when the deadline comes first. */
    awaitFeed: async (asker: Asker, input: { workspaceId: string; podcastId: string }): Promise<boolean> =>
      (await feeds.awaitFeed(input, as(asker))).isLive,

    /** Throws REST's 404 for a podcast that was not imported, as do the two below. */
    findImport: (asker: Asker, input: { workspaceId: string; podcastId: string }) => feeds.getImport(input, as(asker)),

    /** What became of each item of an imported feed, in the order of the feed. */
    async *importItems(
      asker: Asker,
      input: { workspaceId: string; podcastId: string },
    ): AsyncGenerator<readonly ImportItem[]> {
      for (let after = 0; ;) {
        const { items } = await feeds.listImportItems({ ...input, after, limit: pageSize }, as(asker));
        if (items.length > 0) yield items;
        if (items.length < pageSize) return;
        after = items.at(-1)!.position;
      }
    },

    /** The same as CSV, a piece at a time. */
    async *importLines(asker: Asker, input: { workspaceId: string; podcastId: string }): AsyncGenerator<string> {
      for (let after = 0; ;) {
        const { csv, items, position } = await feeds.exportImportItems({ ...input, after, limit: pageSize }, as(asker));
        if (items > 0) yield csv;
        if (items < pageSize) return;
        after = position;
      }
    },

    signUpload: (asker: Asker, uploadId: string) =>
      uploads.signUpload({ workspaceId: asker.workspaceId, uploadId }, as(asker)),

    /** A short-lived address of an upload's file, and its size once it has arrived. */
    signDownload: (asker: Asker, uploadId: string) =>
      uploads.signDownload({ workspaceId: asker.workspaceId, uploadId }, as(asker)),

    signPart: (asker: Asker, part: { uploadKey: string; multipartUploadId: string; partNumber: number }) =>
      uploads.signPart({ workspaceId: asker.workspaceId, ...part }, as(asker)),

    /** A short-lived address of a finished statistics export. */
    signExport: (asker: Asker, { workspaceId, exportId }: { workspaceId: string; exportId: string }) =>
      uploads.signExport({ workspaceId, exportId }, as(asker)),

    signCompletion: (asker: Asker, upload: { uploadKey: string; multipartUploadId: string }) =>
      uploads.signCompletion({ workspaceId: asker.workspaceId, ...upload }, as(asker)),
  };
}

export type Management = ReturnType<typeof createManagement>;
