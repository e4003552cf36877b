import type { ExecuteCommand } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import { isProblem, type ProblemCode } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import { executeAsManagement, type ManagementCommand, type OwnCommand } from './execute-as-management.ts';

/** Sends a command in reaction to an event, under a key made of the event's id: a redelivery does nothing. */
export type Send = <C extends OwnCommand>(
  event: Pick<DomainEvent, 'id' | 'workspace_id'>,
  step: string,
  command: ManagementCommand<C>,
) => Promise<void>;

/** Refusals of a command whose subject has changed since the event; after any other error the event is retried. */
const staleRefusals: readonly ProblemCode[] = ['state_not_allowed', 'not_found', 'value_taken', 'episode_has_no_audio'];

/** Sends the commands of management's followers; logs and skips one that is no longer possible. */
export const sendAsManagement =
  (execute: ExecuteCommand, logger: Logger): Send =>
  async (event, step, command) => {
    try {
      const envelope = { workspaceId: event.workspace_id, idempotencyKey: `${event.id}:${step}` };
      await executeAsManagement(execute, { ...envelope, process: 'system:follower' }, command);
    } catch (error) {
      if (!isProblem(error, ...staleRefusals)) throw error;
      logger.info({ event_id: event.id, command: command.type, code: error.code }, 'follower.skipped');
    }
  };
