import type { ExecuteCommand } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import { executeAsManagement, type ManagementCommand, type ProductCommand } from './execute-as-management.ts';

/** Sends a command that follows from an event. The event's id is the idempotency key: a redelivery does nothing. */
export type Send = <C extends ProductCommand>(
  event: Pick<DomainEvent, 'id' | 'workspace_id'>,
  step: string,
  command: ManagementCommand<C>,
) => Promise<void>;

/** Problems that mean the world moved on since the event; the rest is retried. */
const staleRefusals: readonly string[] = ['state_not_allowed', 'not_found', 'value_taken', 'episode_has_no_audio'];

/** Commands of management's own followers; one that is no longer possible is logged and skipped. */
export const sendAsManagement =
  (execute: ExecuteCommand, logger: Logger): Send =>
  async (event, step, command) => {
    try {
      const envelope = { workspaceId: event.workspace_id, idempotencyKey: `${event.id}:${step}` };
      await executeAsManagement(execute, envelope, command);
    } catch (error) {
      if (!(error instanceof Problem) || !staleRefusals.includes(error.code)) throw error;
      logger.info({ event_id: event.id, command: command.type, code: error.code }, 'follower.skipped');
    }
  };
