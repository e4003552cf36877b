import { z } from 'zod';
import { UsageError } from '../command.ts';
import type { ManagementApi } from './management-api.ts';

const workspaceSchema = z.object({
  rows: z.array(z.object({ id: z.string(), name: z.string(), roles: z.array(z.string()) })),
});

/** The workspaces that the signed-in person sees. */
export const listWorkspaces = async (api: ManagementApi) =>
  workspaceSchema.parse(await api.ask({ path: '/workspaces' })).rows;

/** The workspace that `--workspace` or LONGWAVE_WORKSPACE names, else the only one that the person sees. Throws `UsageError`. */
export async function workspaceOf(api: ManagementApi, named: string | undefined): Promise<string> {
  const given = named ?? process.env['LONGWAVE_WORKSPACE'];
  if (given) return given;
  const found = await listWorkspaces(api);
  if (found.length === 1) return found[0]!.id;
  const names = found.map(({ id, name }) => `  ${id}  ${name}`);
  throw new UsageError(
    found.length === 0
      ? 'You see no workspace yet.'
      : `You see several workspaces. Name one: --workspace WS, or LONGWAVE_WORKSPACE in the environment.\n${names.join('\n')}`,
  );
}
