import { executeEnvelope, type Actor, type ActorOfCall, type ExecuteCommand } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { gateways } from '@longwave/services';
import { requireWorkspace } from './require-workspace.ts';

/** Throws for a person in a browser, whose pages ask for the password before they change who has access. */
function assertNoSession(actor: Actor): void {
  if (actor.kind === 'principal' && actor.principal.credential_kind === 'browser_session')
    throw new Problem('permission_denied', 'In a browser, members and keys are changed on the pages of the settings.');
}

/** Identity commands of the operator, and of people as far as the catalog gives them to their roles. */
export function commandService({
  actorOf,
  execute,
}: {
  readonly actorOf: ActorOfCall;
  readonly execute: ExecuteCommand;
}): RpcService {
  return rpcService(
    CommandServiceService,
    { execute: [...gateways, 'operator'] },
    {
      execute: async (request, context) => {
        requireWorkspace(request.workspaceId);
        const actor = await actorOf(context);
        assertNoSession(actor);
        return executeEnvelope(execute, request, actor, context.deadline);
      },
    },
  );
}
