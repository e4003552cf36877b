import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { askManagement } from '../../../api/management.ts';
import type { FoundBy, Purpose } from './decision-search.ts';

/** One decision as a search finds it. */
export interface DecisionRow {
  readonly decision_id: string;
  readonly decided_at: string;
  readonly podcast_id: string;
  readonly episode_id: string;
  readonly no_ad_reason: string | null;
  readonly picks: readonly { readonly line_item_id: string }[];
}

interface DecisionPage {
  readonly rows: readonly DecisionRow[];
  readonly next_cursor?: string;
}

/** One step of a break: how many line items came in and out, and what dropped the others. */
export interface Stage {
  readonly break_key: string;
  readonly name: string;
  readonly in: number;
  readonly out: number;
  readonly dropped_by: Readonly<Record<string, number>>;
}

export interface Candidate {
  readonly break_key: string;
  readonly line_item_id: string;
  readonly verdict: string;
  /** Everything that speaks against it, the verdict first. */
  readonly codes: readonly string[];
  /** 0 exclusive … 4 house. */
  readonly tier: number;
  readonly rank: number | null;
}

/** An ad that was chosen. */
export interface Pick {
  readonly break_key: string;
  /** From 0. */
  readonly slot: number;
  readonly serving_id: string;
  readonly line_item_id: string;
  readonly creative_id: string;
  readonly duration_ms: number;
}

interface AdBreak {
  readonly key: string;
  readonly position: 'pre' | 'mid' | 'post';
  readonly position_ms: number;
  readonly max_slots: number;
  readonly max_duration_ms: number;
}

/** What a decision had to choose from. */
export interface Trace {
  readonly decision_id: string;
  readonly decided_at: string;
  readonly serving_plan_id: string | null;
  readonly policy_versions: readonly { readonly id: string; readonly version: number }[];
  readonly suspensions_version: string | null;
  readonly request_class: {
    readonly podcast_id: string;
    readonly episode_id: string;
    readonly country: string;
    readonly region: string;
    readonly surface: string;
    readonly device: string;
    readonly operating_system: string;
    readonly app: string;
    readonly language: string;
    readonly explicit: boolean;
    readonly content_categories: readonly string[];
    readonly listener_bucket: 'present' | 'absent';
    readonly breaks: readonly AdBreak[];
  };
  readonly stages: readonly Stage[];
  readonly candidates: readonly Candidate[];
  readonly picks: readonly Pick[];
  readonly no_ad_reason: string | null;
  readonly replay: { readonly status: 'identical' | 'differs' | 'inputs_expired' };
}

/**
 * Every reading is recorded with its purpose. So nothing is read before somebody has said one, and nothing anew by itself: not when a window gets the focus, and
 * not when something of the workspace changes, as a decision never does. Their keys are not those of the workspace's resources.
 */
const asked = { staleTime: Number.POSITIVE_INFINITY, refetchOnReconnect: false } as const;
const pathOf = (workspace: string) => `/workspaces/${workspace}/decisions`;

/** Decisions of a search, the newest first. The server looks at 2,000 for each page: one may be empty, and more may follow. */
export const decisionsQuery = (workspace: string, by: FoundBy, purpose: Purpose) =>
  infiniteQueryOptions({
    ...asked,
    queryKey: ['decisions', workspace, by, purpose] as const,
    initialPageParam: '',
    queryFn: ({ signal, pageParam: cursor }) => {
      const query = new URLSearchParams({ ...by, purpose, limit: '50', ...(cursor !== '' && { cursor }) });
      return askManagement<DecisionPage>(`${pathOf(workspace)}?${query}`, { signal });
    },
    getNextPageParam: ({ next_cursor: next }) => next,
  });

/** The trace of one decision, which is repeated from its stored inputs for this reading. */
export const traceQuery = (workspace: string, id: string, purpose: Purpose) =>
  queryOptions({
    ...asked,
    queryKey: ['decisions', workspace, 'trace', id, purpose] as const,
    queryFn: ({ signal }) => askManagement<Trace>(`${pathOf(workspace)}/${id}/trace?purpose=${purpose}`, { signal }),
  });
