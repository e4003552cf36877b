import type { ChangesInput, CommandType, identityCatalog } from '@longwave/command-catalog';
import { subjectOf, type Actor, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';

type IdentityCommand = CommandType & keyof (typeof identityCatalog)['commands'];

/**
 * Sends an identity command and answers the resource as it is then.
 * @param subjectId undefined for a new resource whose id the pipeline chooses
 */
export type SendCommand = <C extends IdentityCommand>(
  commandType: C,
  workspaceId: string,
  subjectId: string | undefined,
  changes: ChangesInput<C>,
  options?: {
    /** Default: this service, for work that no person does in a workspace of theirs. */
    readonly actor?: Actor;
    /** Default: a new one. A key that names the work makes a repetition harmless. */
    readonly key?: string;
  },
) => Promise<ResourceView>;

/** Sends commands into the pipeline of this process. */
export const createSendCommand =
  (execute: ExecuteCommand): SendCommand =>
  async (commandType, workspaceId, subjectId, changes, options = {}) => {
    const { actor = { kind: 'service', name: 'auth-server' }, key = newId('req') } = options;
    const subject = { type: `${commandType.split('.')[0]}s`, id: subjectId ?? null };
    return subjectOf(await execute({ workspaceId, commandType, idempotencyKey: key, subject, changes }, actor));
  };
