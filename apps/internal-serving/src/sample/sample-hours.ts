import { idToUuid } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import type { DecisionReader } from '../decisions/decision-reader.ts';
import { readDecisionsBetween } from '../decisions/decision-table.ts';
import { saveOpportunities } from '../numbers/opportunity-table.ts';
import { createOpportunityTally, type OpportunityTally } from '../numbers/opportunity-tally.ts';
import { removeErasedCodes } from './erased-code-table.ts';
import { packSample } from './packed-sample.ts';
import { findPlayListeners, removePlayListeners } from './play-listener-table.ts';
import {
  forgetValueCounts,
  insertSampledHour,
  listValueCounts,
  removeSampledHours,
  type EpisodeHour,
} from './play-sample-table.ts';
import { candidateOf, keepPlays, shareOf, type CandidatePlay } from './sampled-play.ts';
import { finishHour, leaseNextHour } from './sample-progress-table.ts';
import { destroySecrets, monthOf } from './sample-secret-table.ts';
import { createValueCounts, sumDay } from './value-counts.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Decisions of an hour are stored, and codes of their listeners written, this long after its end. */
const settledMs = 5 * 60_000;
/** Days that sampled plays are kept. */
const keptDays = 90;
const pageSize = 500;

/** The plays of one workspace in an hour. */
interface WorkspaceHour {
  readonly counts: ReturnType<typeof createValueCounts>;
  readonly episodes: Map<string, EpisodeHour>;
  readonly plays: CandidatePlay[];
  readonly opportunities: OpportunityTally;
  /** Counts of the 23 hours before. */
  readonly before: Awaited<ReturnType<typeof listValueCounts>>;
}

const slotsOf = (play: CandidatePlay) => play.breaks.reduce((slots, one) => slots + one.maxSlots, 0);

function addEpisode(episodes: Map<string, EpisodeHour>, hour: Date, play: CandidatePlay): void {
  const { podcastId, episodeId, publishedAtMs, language, contentCategories } = play;
  const known = episodes.get(episodeId);
  episodes.set(episodeId, {
    ...{ hourMs: hour.getTime(), podcastId, episodeId, publishedAtMs, language, contentCategories },
    opportunities: (known?.opportunities ?? 0) + slotsOf(play),
  });
}

/** Samples the plays of whole hours, one after the other, from stored decisions (docs/privacy.md), and counts their opportunities. */
export function createSampleHours(pool: Pool, reader: Pick<DecisionReader, 'tryRead'>, clock: () => Date) {
  async function readHour(hour: Date): Promise<ReadonlyMap<string, WorkspaceHour>> {
    const end = new Date(hour.getTime() + hourMs);
    const from = new Date(end.getTime() - dayMs);
    const workspaces = new Map<string, WorkspaceHour>();
    let after: { readonly at: Date; readonly decisionId: string } | undefined;
    for (;;) {
      const rows = await readDecisionsBetween(pool, hour, end, after, pageSize);
      const codes = await findPlayListeners(
        pool,
        rows.map(({ decisionId }) => idToUuid(decisionId)),
      );
      for (const row of rows) {
        const decision = await reader.tryRead(row);
        const play = decision && candidateOf(row.decisionId, decision, codes.get(idToUuid(row.decisionId)));
        if (!play) continue;
        const known = workspaces.get(row.workspaceId);
        const workspace: WorkspaceHour = known ?? {
          ...{ counts: createValueCounts(), episodes: new Map(), plays: [], opportunities: createOpportunityTally() },
          before: await listValueCounts(pool, row.workspaceId, from, hour),
        };
        if (!known) workspaces.set(row.workspaceId, workspace);
        workspace.opportunities.add(decision);
        workspace.counts.add(play);
        addEpisode(workspace.episodes, hour, play);
        // The day can only have more plays than so far, and then a smaller share is kept.
        if (play.place < shareOf(playsOf(workspace, play.podcastId))) workspace.plays.push(play);
      }
      if (rows.length < pageSize) return workspaces;
      const last = rows.at(-1)!;
      after = { at: new Date(last.atMs), decisionId: last.decisionId };
    }
  }

  async function sampleHour(hour: Date): Promise<void> {
    for (const [workspaceId, { counts, before, plays, episodes, opportunities }] of await readHour(hour)) {
      const month = monthOf(hour);
      const day = sumDay([...before.map((one) => ({ ...one, month: monthOf(one.hour) })), { month, counts }]);
      const sampled = {
        ...{ workspaceId, episodes: [...episodes.values()], ...packSample(keepPlays(plays, day)) },
        counts: { podcasts: counts.podcasts, marks: counts.marks },
      };
      await insertSampledHour(pool, { hour, month }, sampled);
      await saveOpportunities(pool, workspaceId, hour, opportunities.list());
    }
    await forgetValueCounts(pool, new Date(hour.getTime() - dayMs));
    await finishHour(pool, hour);
  }

  return {
    /** Samples the next hour; answers whether there may be another one. */
    sampleNext: async (): Promise<boolean> => {
      const hour = await leaseNextHour(pool, wholeHour(new Date(clock().getTime() - settledMs)));
      if (!hour) return false;
      await sampleHour(hour);
      return true;
    },

    /** Removes what is too old: sampled plays, codes that were sampled or erased, secrets with their codes. */
    removeOld: async (maxRows: number): Promise<number> => {
      const now = clock();
      const blanked = await destroySecrets(pool, now, maxRows);
      const sampled = await removeSampledHours(pool, new Date(now.getTime() - keptDays * dayMs), maxRows);
      // Longer than an hour and the time in which it is sampled: what is behind is sampled without listeners.
      const codes = await removePlayListeners(pool, new Date(now.getTime() - 3 * hourMs), maxRows);
      const erased = await removeErasedCodes(pool, new Date(now.getTime() - dayMs), maxRows);
      return Math.max(sampled, codes, erased, blanked);
    },
  };
}

const wholeHour = (at: Date) => new Date(Math.floor(at.getTime() / hourMs) * hourMs);

/** Plays of one podcast in the day so far. */
const playsOf = ({ before, counts }: WorkspaceHour, podcastId: string): number =>
  before.reduce((sum, one) => sum + (one.counts.podcasts[podcastId] ?? 0), counts.podcasts[podcastId] ?? 0);
