import { executeEnvelope, type Actor, type ActorOfCall, type ExecuteCommand } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { gateways } from '@longwave/services';
import type { AwaitHolders } from '../verification/await-holders.ts';
import { requireWorkspace } from './require-workspace.ts';

/** Credentials that may change who has access: the account's own, which nobody holds who was not given them on its pages. */
const accountCredentials: readonly string[] = ['api_key', 'legacy_token'];

/**
 * Throws for a person in a browser, whose pages ask for the password before they change who has access, and for a token that a person
 * gave to an application: with a key of the account it would outlive and exceed what was allowed to it.
 */
function assertMayChangeAccess(actor: Actor): void {
  if (actor.kind !== 'principal' || accountCredentials.includes(actor.principal.credential_kind)) return;
  throw new Problem(
    'permission_denied',
    actor.principal.credential_kind === 'browser_session'
      ? 'In a browser, members and keys are changed on the pages of the settings.'
      : 'An application cannot change members and keys. Change them on the pages of the settings.',
  );
}

/** Identity commands of the operator, and of people as far as the catalog gives them to their roles. */
export function commandService({
  actorOf,
  execute,
  awaitHolders,
}: {
  readonly actorOf: ActorOfCall;
  readonly execute: ExecuteCommand;
  readonly awaitHolders: AwaitHolders;
}): RpcService {
  return rpcService(
    CommandServiceService,
    { execute: [...gateways, 'operator'] },
    {
      execute: async (request, context) => {
        requireWorkspace(request.workspaceId);
        const actor = await actorOf(context);
        assertMayChangeAccess(actor);
        try {
          return await executeEnvelope(execute, request, actor, context.deadline);
        } finally {
          // A refusal, too, may tell of a change: a key that was revoked a moment ago.
          await awaitHolders();
        }
      },
    },
  );
}
