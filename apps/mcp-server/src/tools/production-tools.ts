import { operation, type Asker } from '@longwave/hosting-client';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { readTool, type ToolDeps } from '../tool.ts';
import { episodeId, productionId } from './fields.ts';
import { objects, show } from './objects.ts';

/** The latest production of an episode; null when it has none. */
export async function findLatestProduction(
  asker: Asker,
  of: { readonly links: Readonly<Record<string, string>>; readonly workspaceId: string },
  deps: ToolDeps,
): Promise<z.output<typeof objects.production> | null> {
  const newest = { limit: 1, cursor: '' };
  const { items } = await deps.management.listPage(asker, 'productions', { ...of, sort: '-created_at' }, newest);
  return items[0] ? show('productions', items[0], asker, deps) : null;
}

const oneOf = 'Name either production_id or episode_id.';

export const getProduction = readTool({
  name: 'get_production',
  title: 'Show an encoding',
  description: 'Shows a production (one encoding of one file) by its ID, or the latest one of an episode.',
  scopes: ['mcp:read'],
  input: z.strictObject({ production_id: productionId.optional(), episode_id: episodeId.optional() }),
  output: z.strictObject({ production: objects.production }),
  run: async ({ asker, args: { production_id: id, episode_id: of } }, deps) => {
    if ((id === undefined) === (of === undefined)) throw new Problem('validation_failed', oneOf);
    if (id !== undefined) {
      const { resource } = await deps.management.find(asker, 'productions', id);
      return { output: { production: await show('productions', resource, asker, deps) } };
    }
    const { access } = await deps.management.find(asker, 'episodes', of!);
    const filter = { links: { episode: of! }, workspaceId: access.workspaceId };
    const production = await findLatestProduction(asker, filter, deps);
    if (!production) throw new Problem('not_found', `The episode ${of} has no production.`);
    return { output: { production } };
  },
});

const shownOperation = operation.pick({ id: true, state: true, subject: true, created_at: true, updated_at: true });

export const getOperation = readTool({
  name: 'get_operation',
  title: 'Show the progress of an operation',
  description:
    'Shows how far an operation is that another tool began: an encoding, a batch encoding, an export or a publication. Ask again every few seconds until its state is "succeeded", "failed" or "cancelled".',
  scopes: ['mcp:read'],
  input: z.strictObject({ operation_id: z.string().min(1).max(64).describe('ID of the operation, op_….') }),
  output: shownOperation.extend({
    command: z.string(),
    progress: z.number().min(0).max(1).nullable().describe('Of a running encoding; else null.'),
    next_action: z.string(),
    problem: operation.shape.problem,
  }),
  run: async ({ asker, args: { operation_id: id } }, { management, views }) => {
    const found = z.object(operation.shape).parse(await management.findOperation(asker, id));
    const { command_type: command, next_safe_action: next_action, problem, subject, state } = found;
    const isEncoding = state === 'running' || state === 'accepted';
    const tick = isEncoding && subject.type === 'productions' ? await views.progress.last(subject.id) : undefined;
    return {
      output: {
        id: found.id,
        command,
        state,
        subject,
        progress: tick?.progress ?? null,
        next_action,
        ...(problem && { problem }),
        created_at: found.created_at,
        updated_at: found.updated_at,
      },
    };
  },
});
