import { queryOptions } from '@tanstack/react-query';
import { askManagement } from '../../api/management.ts';

/** One item of a reconciliation: the numbers of one line item on one day, or over the whole period, side by side. */
export interface Item {
  readonly item_id: string;
  readonly source: string;
  readonly line_item_id: string;
  /** Date in the zone of the source; null: the whole period. */
  readonly day: string | null;
  readonly ours: number;
  readonly theirs: number;
  readonly ours_basis: string;
  readonly theirs_basis: string;
  /** Theirs less ours. */
  readonly delta: number;
  /** Per cent of ours; null where ours is 0. */
  readonly delta_pct: number | null;
  readonly ambiguity: string;
  readonly beyond_tolerance: boolean;
  readonly verdict: 'ours' | 'theirs' | 'agreed_value' | null;
  readonly value: number | null;
  readonly note: string | null;
  /** Null also for items within the tolerance. */
  readonly decided_by: string | null;
  /** Units that closing has posted. */
  readonly adjusted: number | null;
}

const itemsMax = 600;

/** The first 600 items of a reconciliation: what people must decide comes first, the largest differences before the others. Read anew when the reconciliation changes. */
export const itemsQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: ['management', workspace, 'reconciliations', id, 'items'] as const,
    queryFn: async ({ signal }): Promise<readonly Item[]> => {
      const items: Item[] = [];
      for (let cursor: string | undefined; ;) {
        const query = new URLSearchParams({ limit: '200', ...(cursor !== undefined && { cursor }) });
        type Page = { readonly rows: readonly Item[]; readonly next_cursor?: string };
        const path = `/workspaces/${workspace}/reconciliations/${id}/items?${query}`;
        const page = await askManagement<Page>(path, { signal });
        items.push(...page.rows);
        cursor = page.next_cursor;
        if (cursor === undefined || items.length >= itemsMax) return items;
      }
    },
  });

/** Items by who decides them: nobody yet; people; the tolerance, by itself. */
export const itemsByFate = (items: readonly Item[]) => ({
  open: items.filter(({ verdict }) => verdict === null),
  decided: items.filter(({ verdict, decided_by: by }) => verdict !== null && by !== null),
  passed: items.filter(({ verdict, decided_by: by }) => verdict !== null && by === null),
});

/** Why an item is not decided by itself; undefined for one that is. */
export const whyOpen = ({ ambiguity, beyond_tolerance: isBeyond }: Item): string | undefined =>
  ambiguity === 'none' ? (isBeyond ? 'beyond' : undefined) : ambiguity;

/** The units that both sides charge by the decision. */
export const decidedUnits = ({ verdict, ours, theirs, value }: Item): number | undefined => {
  if (verdict === null) return undefined;
  return verdict === 'agreed_value' ? (value ?? undefined) : { ours, theirs }[verdict];
};
