import { expect, test } from '@jest/globals';
import type { Actor, CommandRequest, ExecuteCommand } from '@longwave/command-pipeline';
import { executeAsManagement } from './execute-as-management.ts';

const envelope = { workspaceId: 'ws_1', idempotencyKey: 'evt_1:publish' };

/** Answers every command with a resource of a type, and records the commands. */
function answering(resource_type: string) {
  const sent: [CommandRequest, Actor][] = [];
  const resource = {
    ...{ resource_type, id: 'ep_1', workspace_id: 'ws_1', version: 2, lifecycle_state: 'published', attributes: {} },
    ...{ links: {}, digest: '', created_at: '', updated_at: '', updated_by: { operation_id: 'op_1' } },
  };
  const execute: ExecuteCommand = async (request, actor) => {
    sent.push([request, actor]);
    return { operationJson: '{}', resource, status: 200, replayed: false };
  };
  return { sent, execute };
}

test('a command names the subject type of the catalog and comes from management itself', async () => {
  const { sent, execute } = answering('episodes');
  const command = { type: 'episode.attach_production', id: 'ep_1', changes: { production_id: 'pro_1' } } as const;
  expect(await executeAsManagement(execute, envelope, command)).toMatchObject({ id: 'ep_1', version: 2 });
  expect(sent).toEqual([
    [
      {
        ...envelope,
        commandType: 'episode.attach_production',
        subject: { type: 'episodes', id: 'ep_1', version: undefined },
        changes: { production_id: 'pro_1' },
      },
      { kind: 'service', name: 'management' },
    ],
  ]);
});

test('an answer about a resource of another type is an error', async () => {
  const { execute } = answering('podcasts');
  const command = { type: 'episode.publish', id: 'ep_1', changes: {} } as const;
  await expect(executeAsManagement(execute, envelope, command)).rejects.toThrow('of type podcasts, not episodes');
});

/** Checked by the compiler alone: each line below an expected error must not compile. */
export const refused = (execute: ExecuteCommand) => [
  // @ts-expect-error a misspelt command
  executeAsManagement(execute, envelope, { type: 'episode.publsh', id: 'ep_1', changes: {} }),
  executeAsManagement(execute, envelope, {
    type: 'episode.attach_production',
    id: 'ep_1',
    // @ts-expect-error a field that the command does not take
    changes: { productionId: 'pro_1' },
  }),
];
