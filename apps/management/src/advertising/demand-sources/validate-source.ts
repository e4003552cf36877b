import type { Attributes } from '@longwave/command-catalog';
import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { RefusedAd } from '@longwave/vast';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';
import { askSource, macrosNow, type AskDeps, type SourceAnswer } from './ask-source.ts';
import type { DemandSource } from './demand-source.ts';
import { judgeAd, type UsableAd } from './judge-ad.ts';
import { reportErrors } from './report-errors.ts';

type Finding = NonNullable<Attributes<'demand_sources'>['finding']>;

/** The ads of an answer that can be prepared, and everything that was refused. */
export function judgeAnswer(deps: AskDeps, source: DemandSource, { ads, refusals }: SourceAnswer) {
  const judged = ads.map((ad) => judgeAd(ad, source, macrosNow(deps)));
  return {
    usable: judged.flatMap((one): readonly UsableAd[] => ('usable' in one ? [one.usable] : [])),
    refusals: [...refusals, ...judged.flatMap((one) => ('refused' in one ? [one.refused] : []))],
  };
}

/** Why nothing of an answer can be used, for people. */
export const problemOf = ({ code, reason }: RefusedAd) => ({
  code: 'demand_not_usable',
  detail: `VAST error ${code}: ${reason}`.slice(0, 1000).toWellFormed(),
});

const maxRefused = 32;

function findingOf(usable: readonly UsableAd[], refusals: readonly RefusedAd[], wrappers: number, now: Date): Finding {
  return {
    ...{ checked_at: now.toISOString(), ads: usable.length, wrappers },
    refused: refusals.slice(0, maxRefused).map(({ id, code, reason }) => ({
      ...(id !== undefined && { ad_id: id }),
      ...{ vast_error: code, detail: reason.slice(0, 1000).toWellFormed() },
    })),
  };
}

/** Asks a demand source once and reports what it answered. A source that has no ad now is valid. */
export const createValidateHandler = ({
  pool,
  execute,
  ...deps
}: AskDeps & { readonly pool: Pool; readonly execute: ExecuteCommand }): JobHandler => ({
  maxAttempts: 5,
  concurrency: 4,
  fail: {
    commandType: 'demand_source.fail_validation',
    problem: { code: 'validation_gave_up', detail: 'The demand source could not be validated. Validate it again.' },
  },
  run: async (job) => {
    const { workspace_id: workspaceId, subject_id: id } = job;
    const source = (await findResource(pool, workspaceId, 'demand_sources', id))!.attributes;
    const answer = await askSource(deps, source);
    const { usable, refusals } = judgeAnswer(deps, source, answer);
    await reportErrors(deps, source, refusals);
    const finding = findingOf(usable, refusals, answer.wrappers, deps.clock());
    const envelope = { workspaceId, idempotencyKey: `${job.id}:${job.lease_id}`, reason: leaseOf(job) };
    const [first] = refusals;
    await (usable.length === 0 && first
      ? executeAsManagement(execute, envelope, {
          ...{ type: 'demand_source.fail_validation', id, changes: { problem: problemOf(first), finding } },
        })
      : executeAsManagement(execute, envelope, { type: 'demand_source.record_validation', id, changes: { finding } }));
  },
});
