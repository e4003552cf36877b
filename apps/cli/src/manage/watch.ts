import { z } from 'zod';
import { UsageError } from '../command.ts';
import { isOperationId } from './catalog.ts';
import type { ManagementApi } from './management-api.ts';

const stateSchema = z.looseObject({ state: z.string(), progress: z.number().optional() });

/** `manage watch OPERATION`: tells every change of state until the operation is over; answers the operation. */
export async function watchOperation(
  api: ManagementApi,
  workspace: string,
  id: string,
  tell: (line: string) => void,
): Promise<unknown> {
  if (!isOperationId(id))
    throw new UsageError(`“${id}” is no operation (op_…). “manage get ${id}” shows a resource and its state.`);
  const path = `${workspace}/operations/${id}`;
  let told = '';
  for await (const { data } of api.events(`${path}/events`)) {
    const { state, progress } = stateSchema.parse(data);
    const line = progress === undefined ? state : `${state} ${Math.round(progress * 100)} %`;
    if (line !== told) tell(line);
    told = line;
  }
  return api.ask({ path });
}
