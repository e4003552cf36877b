import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Actor, OperationView } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import fc from 'fast-check';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour, service } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const people = ['requester', 'first', 'second', 'outsider'] as const;
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('approve' as const), by: fc.constantFrom(...people) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('decline' as const), by: fc.constantFrom(...people) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('request_changes' as const), by: fc.constantFrom(...people) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), by: fc.constantFrom(...people) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'expire' as const }) },
  // The follower of approvals, which may run late, twice and again after a restart.
  { weight: 4, arbitrary: fc.constant({ kind: 'run' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reviewer_leaves' as const }) },
);

test('whatever the order of decisions, withdrawal, expiry and restarts, a command is carried out at most once, and only after enough distinct eligible approvals', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.boolean(), async (steps, atOnce) => {
      const world = createWorld(management);
      const [owner, first, second] = [await world.known(), await world.member(), await world.member()];
      const outsider = (await world.stranger()).actor;
      const workspace = await world.workspace();
      const answer = await management.execute(
        {
          ...{ workspaceId: world.workspaceId, commandType: 'workspace.configure', idempotencyKey: newId('req') },
          ...{ subject: { type: 'workspaces', id: workspace.id, version: 1 }, changes: { name: 'B' } },
        },
        owner.actor,
      );
      const operation = JSON.parse(answer.operationJson) as OperationView;
      expect(operation.review).toEqual({ declared: 'dual', applied: 'dual' });
      const task: ResourceView = await world.taskOf(workspace.id);
      const actors: Readonly<Record<(typeof people)[number], Actor>> = {
        ...{ requester: owner.actor, first: first.actor, second: second.actor, outsider },
      };
      const take = async (one: (typeof steps)[number]): Promise<unknown> => {
        const at = { id: task.id, resource_type: 'review_tasks', version: undefined as never };
        const note = { note: 'Because.' };
        switch (one.kind) {
          case 'run':
            return management.runApproved(world.workspaceId, task.id);
          case 'reviewer_leaves':
            return second.leave();
          case 'expire':
            management.aheadMs += 8 * 24 * hour;
            return world.send('review.expire', at, {}, service('management'));
          case 'withdraw':
            return world.send('review.withdraw', at, {}, actors[one.by]);
          case 'approve':
          case 'decline':
          case 'request_changes':
            return world.send(`review.${one.kind}`, at, note, actors[one.by]);
        }
      };
      const attempt = async (one: (typeof steps)[number]) =>
        take(one).catch((error: unknown) => {
          if (!(error instanceof Problem)) throw error;
        });
      if (atOnce) await Promise.all(steps.map(attempt));
      else for (const one of steps) await attempt(one);
      await Promise.all([1, 2].map(() => management.runApproved(world.workspaceId, task.id)));

      const { rows } = await management.pool.query<ResourceView>(
        'select id, version, lifecycle_state, attributes from resource where id = any($1) order by id',
        [[task.id, workspace.id]],
      );
      const [ended, configured] = [rows.find(({ id }) => id === task.id)!, rows.find(({ id }) => id === workspace.id)!];
      const decisions = ended.attributes['decisions'] as { verdict: string; by: string }[];
      const approvals = new Set(decisions.filter(({ verdict }) => verdict === 'approve').map(({ by }) => by));
      const isCarriedOut = configured.version === 2;
      expect(configured.version).toBeLessThanOrEqual(2);
      expect(isCarriedOut).toBe(ended.lifecycle_state === 'approved');
      expect([...approvals].every((by) => [first.userId, second.userId].includes(by as never))).toBe(true);
      expect(isCarriedOut).toBe(approvals.size === 2);
      const { rows: receipts } = await management.pool.query(
        `select id from receipt where workspace_id = $1 and operation_id = $2`,
        [world.workspaceId, operation.id],
      );
      expect(receipts).toHaveLength(isCarriedOut ? 2 : 1);
    }),
    { numRuns: 40 },
  );
});
