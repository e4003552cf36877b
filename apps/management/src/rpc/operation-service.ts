import { notFoundProblem, type Actor, type ResourceReader } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { OperationServiceService } from '@longwave/rpc/resource';
import type { Access } from '../workspace/access/access.ts';
import { namedWorkspace, readers, type ActorOfCall } from './actor.ts';

/** Operations and receipts, as visible as what they changed. */
export function operationService({
  actorOf,
  access,
  reader,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly reader: ResourceReader;
}): RpcService {
  /** An operation and its receipt are as visible as what they changed; `notFound` is said of an invisible one. */
  const visibleOperation = async (actor: Actor, workspaceId: string, operationId: string, notFound: Problem) => {
    const operation = await reader.getOperation(namedWorkspace(workspaceId), operationId);
    const { type, id } = operation.subject;
    await access.getVisible(actor, operation.workspace_id, type, id).catch((cause: unknown) => {
      throw cause instanceof Problem && cause.code === 'not_found' ? notFound : cause;
    });
    return operation;
  };

  return rpcService(
    OperationServiceService,
    { getOperation: readers, getReceipt: readers },
    {
      getOperation: async ({ workspaceId, operationId }, context) => {
        const actor = await actorOf(context);
        const notFound = notFoundProblem({ noun: 'operation' }, operationId);
        return { operationJson: JSON.stringify(await visibleOperation(actor, workspaceId, operationId, notFound)) };
      },
      getReceipt: async ({ workspaceId, receiptId }, context) => {
        const actor = await actorOf(context);
        const { operationId, ...receipt } = await reader.getReceipt(workspaceId, receiptId);
        await visibleOperation(actor, workspaceId, operationId, notFoundProblem({ noun: 'receipt' }, receiptId));
        return { receiptJson: JSON.stringify(receipt) };
      },
    },
  );
}
