import {
  productCatalog,
  typedResource,
  type ChangesInput,
  type MachineCommand,
  type Resource,
  type SubjectOf,
} from '@longwave/command-catalog';
import { subjectOf, type ExecuteCommand, type SystemProcess } from '@longwave/command-pipeline';
import type { LeaseReport } from './job-table.ts';

/** Commands whose definition lets management send them: any other would be refused each time, and the event that led to it die. */
export type OwnCommand = MachineCommand<'management'>;

/** A command that management sends by itself; the catalog knows the type of its subject. */
export interface ManagementCommand<C extends OwnCommand> {
  readonly type: C;
  /** Null for a new resource. */
  readonly id: string | null;
  /** The version that the subject must have; absent: any. */
  readonly version?: number;
  readonly changes: ChangesInput<C>;
}

interface Envelope {
  /** The history names it; absent: a worker of management. */
  readonly process?: SystemProcess;
  readonly workspaceId: string;
  readonly idempotencyKey: string;
  /** For a report about a job: the lease of its worker. */
  readonly reason?: LeaseReport;
}

/** Executes a command as management itself and returns its subject. Throws a `Problem` when it is refused. */
export async function executeAsManagement<C extends OwnCommand>(
  execute: ExecuteCommand,
  { process, ...envelope }: Envelope,
  { type: commandType, id, version, changes }: ManagementCommand<C>,
): Promise<Resource<SubjectOf<C>>> {
  const type: SubjectOf<C> = productCatalog.commands[commandType].subject;
  const request = { ...envelope, commandType, subject: { type, id, version }, changes };
  return typedResource(subjectOf(await execute(request, { kind: 'service', name: 'management', process })), type);
}
