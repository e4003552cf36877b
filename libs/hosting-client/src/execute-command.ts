import { isProblem } from '@longwave/problems';
import type {
  Catalog,
  ChangesInput,
  CommandType,
  ProductCommand,
  Resource,
  ResourceType,
  SubjectOf,
} from '@longwave/command-catalog';
import { operationConsequenceSchema, type OperationConsequence } from '@longwave/events';
import { isId, newId } from '@longwave/ids';
import type { RpcChannel } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { z } from 'zod';
import { callOptions, notFoundProblem, type Asker } from './asker.ts';
import { parseResource } from './read-resources.ts';

/** One write as a command. */
export interface CommandInput<C extends CommandType> {
  readonly type: C;
  /** Where a new subject is created; absent: the asker's own. Management knows the workspace of an existing one. */
  readonly workspaceId?: string | undefined;
  /** Absent for creates. */
  readonly subjectId?: string;
  readonly changes: ChangesInput<C>;
  /** From the client; absent: a key of its own for this request. */
  readonly idempotencyKey?: string | undefined;
  /** The version that the subject must have, as `If-Match` names it. */
  readonly ifMatch?: string | undefined;
  /** The same as a number, for callers without digests. */
  readonly expectedVersion?: number | undefined;
}

const operationSchema = z.object({
  id: z.string(),
  consequences: operationConsequenceSchema.array().default([]),
});

const disclosedSchema = z.record(z.string(), z.string());

export interface Executed<T extends ResourceType = SubjectOf<ProductCommand>> {
  /** As it is after the command. */
  readonly resource: Resource<T>;
  readonly operationId: string;
  /** Other resources that changed with it. */
  readonly consequences: readonly OperationConsequence[];
  /** True when the same key was accepted before. */
  readonly replayed: boolean;
  /** What only this answer shows, such as a new secret. */
  readonly disclosed?: Readonly<Record<string, string>>;
}

/** Sends commands of a catalog to the service that executes it: those of the product to management, those of identity to auth-server. */
export function commandExecution<A extends CommandType>(channel: RpcChannel, catalog: Catalog) {
  const commands = channel.client(CommandServiceService);
  return {
    /** Throws `not_found` when the subject is missing. */
    async execute<C extends A>(asker: Asker, input: CommandInput<C>): Promise<Executed<SubjectOf<C>>> {
      const subject = catalog.commands[input.type]!.subject as SubjectOf<C>;
      const { noun, prefix } = catalog.resources[subject]!;
      if (input.subjectId !== undefined && !isId(input.subjectId, prefix)) throw notFoundProblem(noun, input.subjectId);
      const version = /^"?(\d{1,9})\./.exec(input.ifMatch ?? '')?.[1];
      const request = {
        workspaceId: input.workspaceId ?? (input.subjectId === undefined ? asker.workspaceId : ''),
        commandType: input.type,
        idempotencyKey: input.idempotencyKey ?? newId('req'),
        ifMatch: input.ifMatch ?? '',
        subjectType: subject,
        subjectId: input.subjectId ?? '',
        subjectVersion: version === undefined ? input.expectedVersion : Number(version),
        changesJson: JSON.stringify(input.changes),
        reasonJson: '',
      };
      try {
        const { resourceJson, operationJson, replayed, disclosedJson } = await commands.execute(
          request,
          callOptions(asker),
        );
        const { id, consequences } = operationSchema.parse(JSON.parse(operationJson));
        return {
          resource: parseResource(resourceJson, subject),
          operationId: id,
          consequences,
          replayed,
          ...(disclosedJson !== undefined && { disclosed: disclosedSchema.parse(JSON.parse(disclosedJson)) }),
        };
      } catch (error) {
        const isMissing = isProblem(error, 'not_found') && input.subjectId !== undefined;
        throw isMissing ? notFoundProblem(noun, input.subjectId) : error;
      }
    },
  };
}
