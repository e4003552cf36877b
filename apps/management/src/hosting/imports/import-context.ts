import { createHash } from 'node:crypto';
import type { Resource, SubjectOf } from '@longwave/command-catalog';
import type { ExecuteCommand } from '@longwave/command-pipeline';
import {
  executeAsManagement,
  type ManagementCommand,
  type OwnCommand,
} from '../../background/execute-as-management.ts';
import type { ExtraFiles } from './fetch-extras.ts';

/** The import that an item belongs to. */
export interface ImportContext {
  readonly execute: ExecuteCommand;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly importedAt: Date;
  /** Language of transcripts that do not state theirs. */
  readonly language: string;
  readonly files: ExtraFiles;
  readonly signal: AbortSignal;
}

/** Sends a command for one item; repeated steps of one item are executed once. */
export type SendForItem = <C extends OwnCommand>(
  step: string,
  command: ManagementCommand<C>,
) => Promise<Resource<SubjectOf<C>>>;

/** The sender of one item's commands. */
export function createSend(
  { execute, workspaceId, podcastId }: Pick<ImportContext, 'execute' | 'workspaceId' | 'podcastId'>,
  guid: string,
): SendForItem {
  const key = createHash('sha256').update(guid).digest('hex').slice(0, 32);
  return (step, command) =>
    executeAsManagement(execute, { workspaceId, idempotencyKey: `${podcastId}:${key}:${step}` }, command);
}
