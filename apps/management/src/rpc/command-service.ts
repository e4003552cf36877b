import { type ActorOfCall, answerEnvelope, parseEnvelope, type ExecuteCommand } from '@longwave/command-pipeline';
import { rpcService, type RpcService } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { gateways } from '@longwave/services';
import type { Access } from '../workspace/access/access.ts';
import { assertSessionMaySend } from '../workspace/access/by-session.ts';
import { shownTo } from '../workspace/access/shown-to.ts';

/** Executes commands of people and services; they are answered with what they may read. */
export function commandService({
  actorOf,
  access,
  execute,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly execute: ExecuteCommand;
}): RpcService {
  return rpcService(
    CommandServiceService,
    { execute: [...gateways, 'auth-server', 'encoder', 'forecaster', 'hosting-exchange', 'operator'] },
    {
      execute: async (request, context) => {
        const command = parseEnvelope(request, context.deadline);
        const caller = await actorOf(context);
        assertSessionMaySend(command.commandType, caller);
        const { subject, changes } = command;
        const target = { workspaceId: command.workspaceId, subjectType: subject.type, subjectId: subject.id, changes };
        const { actor, workspaceId, subject: row, refusal } = await access.actorAt(caller, target);
        const outcome = await execute({ ...command, workspaceId, ...(refusal && { refusal }) }, actor, row);
        return answerEnvelope(shownTo(actor).outcome(outcome));
      },
    },
  );
}
