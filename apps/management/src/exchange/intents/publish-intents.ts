import { listInStates, listLinked, type ExecuteCommand } from '@longwave/command-pipeline';
import { jcsDigest } from '@longwave/idempotency';
import type { Pool } from '@longwave/postgres';
import { isProblem } from '@longwave/problems';
import { pollLoop } from '@longwave/worker-kit';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { listAliases } from '../addresses/alias-table.ts';
import { findPlanDigest, listKnownVersions, listMarked, removeMarks, type MarkedAuthority } from './intent-table.ts';
import { intendedActions } from './intended-actions.ts';

interface IntentDeps {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly clock: () => Date;
}

/** Authorities that one round looks at. */
const batchSize = 1_000;

/** Each version holds every action, so a long intent gets its next version later: one of 10,000 after 100 s, while many episodes change. */
const leastPauseMs = (actions: number): number => actions * 10;

/** What should serve at the aliases of an authority now. */
async function readIntent({ pool }: IntentDeps, workspaceId: string, authorityId: string, now: Date) {
  const aliases = await listAliases(pool, workspaceId, authorityId);
  const sourceIds = [...new Set(aliases.map(({ attributes }) => attributes.target.source_id))];
  const inputs = {
    aliases,
    versions: await listKnownVersions(pool, workspaceId, authorityId, sourceIds),
    plans: await listInStates(pool, workspaceId, 'break_plans', ['published']),
    units: await listInStates(pool, workspaceId, 'inventory_units', ['active']),
    halts: await listInStates(pool, workspaceId, 'serving_halts', ['active']),
  };
  return {
    plan_digest: (await findPlanDigest(pool, workspaceId, now)) ?? null,
    actions: intendedActions(inputs, now),
  };
}

/** Publishes what should serve at the aliases of an authority, unless that was published last. False: it is too early for another version. */
async function publishIntent(deps: IntentDeps, { workspaceId, authorityId }: MarkedAuthority): Promise<boolean> {
  const [current] = await listLinked(deps.pool, workspaceId, 'serving_intents', 'authority', authorityId);
  const pauseMs = leastPauseMs(current?.attributes.actions.length ?? 0);
  if (current && deps.clock().getTime() - current.updated_at.getTime() < pauseMs) return false;
  const intent = await readIntent(deps, workspaceId, authorityId, deps.clock());
  const digest = jcsDigest(intent);
  if (!current && intent.actions.length === 0) return true;
  const isKnown = ({ attributes: { plan_digest, actions } }: NonNullable<typeof current>) =>
    digest === jcsDigest({ plan_digest, actions });
  if (current && isKnown(current)) return true;
  const changes = { authority_id: authorityId, ...intent };
  const envelope = { workspaceId, idempotencyKey: `${authorityId}:${current?.version ?? 0}:${digest}` };
  await (current
    ? executeAsManagement(deps.execute, envelope, {
        type: 'serving_intent.republish',
        id: current.id,
        version: current.version,
        changes,
      })
    : executeAsManagement(deps.execute, envelope, { type: 'serving_intent.publish', id: null, changes }));
  return true;
}

/**
 * Publishes the intents of authorities for which something has changed, at most once in `everyMs` each, until it is disposed. Several
 * processes may do so: whoever comes second is refused, and looks again.
 */
export const startIntents = (
  options: IntentDeps & { readonly everyMs: number; readonly onError: (error: unknown) => void },
): AsyncDisposable =>
  pollLoop({
    everyMs: options.everyMs,
    run: async () => {
      for (const marked of await listMarked(options.pool, options.clock(), batchSize)) {
        try {
          if (await publishIntent(options, marked)) await removeMarks(options.pool, marked.markIds);
        } catch (error) {
          // Another process was faster: the next round reads what it has published.
          if (!isProblem(error, 'version_conflict', 'value_taken', 'idempotency_in_progress')) options.onError(error);
        }
      }
    },
    onError: options.onError,
  });
