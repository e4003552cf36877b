import type { BreakPosition } from '@longwave/ad-decision';
import type { StoredDecision } from '../decisions/stored-decision.ts';

/** Plays, breaks and slots of an hour that have these in common. */
export interface OpportunityCount {
  readonly podcastId: string;
  readonly episodeId: string;
  /** ISO 3166-1 alpha-2 or "unknown". */
  readonly country: string;
  /** Empty in the count of plays. */
  readonly breakKey: string;
  /** Why the slots stayed empty; empty for those that were filled. */
  readonly noAdReason: string;
  /** Plays; 0 in counts of breaks. */
  readonly requests: number;
  /** Plays that had the break, beside its filled slots. */
  readonly breaks: number;
  readonly opportunities: number;
  /** The opportunities by the position of their break; undefined in counts of plays. */
  readonly positions: Readonly<Partial<Record<BreakPosition, number>>> | undefined;
}

/** The reason of empty slots of a decision that had none: nothing more could be placed in any of its breaks, whatever the plan held. */
const fullBreak = 'break_full';

/** The opportunities of one workspace in one hour. */
export interface OpportunityTally {
  /** Adds a decision; those that are older than replay do not say what they offered. */
  add(decision: Pick<StoredDecision, 'answer' | 'inputs'>): void;
  list(): readonly OpportunityCount[];
}

export function createOpportunityTally(): OpportunityTally {
  const counts = new Map<string, OpportunityCount>();

  function count(
    key: Omit<OpportunityCount, 'requests' | 'breaks' | 'opportunities' | 'positions'>,
    { requests = 0, breaks = 0, opportunities = 0 },
    position?: BreakPosition,
  ): void {
    const name = [key.podcastId, key.episodeId, key.country, key.breakKey, key.noAdReason].join('\n');
    const known = counts.get(name);
    counts.set(name, {
      ...key,
      requests: (known?.requests ?? 0) + requests,
      breaks: (known?.breaks ?? 0) + breaks,
      opportunities: (known?.opportunities ?? 0) + opportunities,
      positions: position && {
        ...known?.positions,
        [position]: (known?.positions?.[position] ?? 0) + opportunities,
      },
    });
  }

  return {
    add: ({ answer, inputs }) => {
      if (!inputs) return;
      const { podcastId, episodeId, country, breaks } = inputs.context;
      const play = { podcastId, episodeId, country: country || 'unknown' };
      count({ ...play, breakKey: '', noAdReason: '' }, { requests: 1 });
      for (const { key: breakKey, maxSlots, position } of breaks) {
        const filled = answer.picks.filter((pick) => pick.break_key === breakKey).length;
        count({ ...play, breakKey, noAdReason: '' }, { breaks: 1, opportunities: filled }, position);
        if (filled < maxSlots)
          count(
            { ...play, breakKey, noAdReason: answer.no_ad_reason || fullBreak },
            { opportunities: maxSlots - filled },
            position,
          );
      }
    },
    list: () => [...counts.values()],
  };
}
