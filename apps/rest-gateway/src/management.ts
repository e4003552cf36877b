import { productCatalog, type CommandType } from '@longwave/command-catalog';
import { resourceViewSchema, type ResourceView } from '@longwave/events';
import { isId, newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import type { RpcChannel } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import type { Principal } from '@longwave/rpc/credential';
import { OperationServiceService, ResourceServiceService } from '@longwave/rpc/resource';
import { UploadServiceService } from '@longwave/rpc/upload';

export type ResourceType = keyof typeof productCatalog.resources;
export type ProductCommand = CommandType<typeof productCatalog>;

/** Who asks, and until when an answer is of use. */
export type Asker = Principal & { readonly deadline: Date };

/** One REST write, as management wants it. */
export interface CommandInput {
  readonly type: ProductCommand;
  /** Absent for creates. */
  readonly subjectId?: string;
  readonly changes: object;
  /** From the client; absent: a key of its own for this request. */
  readonly idempotencyKey?: string | undefined;
  /** The header as it came. */
  readonly ifMatch?: string | undefined;
}

const pageSize = 200;

/** Contract, Errors, row 404: the same text for an absent and for an invisible object. */
export const notFound = (noun: string, id: string): Problem =>
  new Problem('not_found', `The ${noun} with id ${id} could not be found.`);

const isCode = (error: unknown, code: string): boolean => error instanceof Problem && error.code === code;

const parseView = (json: string): ResourceView => resourceViewSchema.parse(JSON.parse(json));

/** Management as the gateway uses it: reads and commands in a principal's workspace, refusals in REST's words. */
export function createManagement(channel: RpcChannel) {
  const commands = channel.client(CommandServiceService);
  const resources = channel.client(ResourceServiceService);
  const operations = channel.client(OperationServiceService);
  const uploads = channel.client(UploadServiceService);
  const as = ({ statement, deadline }: Asker) => ({ principalStatement: statement, deadline });

  /** Throws REST's 404 for an id that is malformed, unknown or of another workspace. */
  async function read<T>(noun: string, prefix: string, id: string, ask: () => Promise<T>): Promise<T> {
    if (!isId(id, prefix)) throw notFound(noun, id);
    return ask().catch((error: unknown) => {
      throw isCode(error, 'not_found') ? notFound(noun, id) : error;
    });
  }

  return {
    find(asker: Asker, type: ResourceType, id: string): Promise<ResourceView> {
      const { noun, prefix } = productCatalog.resources[type];
      const request = { workspaceId: asker.workspaceId, resourceType: type, resourceId: id };
      return read(noun, prefix, id, async () => {
        const { resourceJson } = await resources.getResource(request, as(asker));
        return parseView(resourceJson);
      });
    },

    /** Everything visible, oldest first. */
    async list(asker: Asker, type: ResourceType, links: Record<string, string>): Promise<ResourceView[]> {
      const found: ResourceView[] = [];
      let cursor = '';
      do {
        const page = await resources.listResources(
          {
            workspaceId: asker.workspaceId,
            resourceType: type,
            links,
            lifecycleStates: [],
            limit: pageSize,
            cursor,
          },
          as(asker),
        );
        found.push(...page.resourcesJson.map(parseView));
        cursor = page.nextCursor;
      } while (cursor !== '');
      return found;
    },

    async execute(asker: Asker, input: CommandInput): Promise<{ resource: ResourceView; replayed: boolean }> {
      const { subject } = productCatalog.commands[input.type];
      const version = /^"?(\d{1,9})\./.exec(input.ifMatch ?? '')?.[1];
      const request = {
        workspaceId: asker.workspaceId,
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
        const { resourceJson, replayed } = await commands.execute(request, as(asker));
        return { resource: parseView(resourceJson), replayed };
      } catch (error) {
        const gone = isCode(error, 'not_found') && input.subjectId !== undefined;
        throw gone ? notFound(productCatalog.resources[subject].noun, input.subjectId) : error;
      }
    },

    findOperation(asker: Asker, id: string): Promise<unknown> {
      const request = { workspaceId: asker.workspaceId, operationId: id };
      return read('operation', 'op', id, async () =>
        JSON.parse((await operations.getOperation(request, as(asker))).operationJson),
      );
    },

    signUpload: (asker: Asker, uploadId: string) =>
      uploads.signUpload({ workspaceId: asker.workspaceId, uploadId }, as(asker)),

    signPart: (asker: Asker, part: { uploadKey: string; multipartUploadId: string; partNumber: number }) =>
      uploads.signPart({ workspaceId: asker.workspaceId, ...part }, as(asker)),

    signCompletion: (asker: Asker, upload: { uploadKey: string; multipartUploadId: string }) =>
      uploads.signCompletion({ workspaceId: asker.workspaceId, ...upload }, as(asker)),
  };
}

export type Management = ReturnType<typeof createManagement>;
