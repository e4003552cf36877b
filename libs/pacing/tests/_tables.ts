import { createCohortBook, lowerGrants, paceLine, raiseGrants, shapePace, type PacedLine } from '../src/index.ts';
import { quarterMs, type CohortCounts } from '../src/cohort.ts';

/** A row of `quota_lease`. */
interface Row {
  granted: number;
  used: number;
  closed: boolean;
  counted: boolean;
}

/** A statement of a pacer: it names its term, and says what it expects of the rows that it raises. */
export interface Statement {
  readonly term: number;
  readonly kind: 'lower' | 'raise';
  readonly grants: readonly { readonly node: number; readonly known: number; readonly to: number }[];
}

/** What a pacer has seen, and the statements that follow from it. */
export type Pending = ReturnType<ReturnType<typeof createTables>['see']>;

/** The tables of one line item, with the statements of nodes and pacers as PostgreSQL does them: each whole, one after another. */
export function createTables(line: PacedLine) {
  const rows = new Map<number, Row>();
  const cohorts = new Map<number, CohortCounts>();
  const tables = { term: 0, closedUsed: 0, watermarkMs: undefined as number | undefined };
  const open = () => [...rows.values()].filter((row) => !row.counted);
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  const used = () => tables.closedUsed + sum(open().map((row) => row.used));

  const shape = shapePace({
    ...{ ...line, fromMs: 0, units: line.goal, traffic: { at: () => 1, isAbsolute: false }, usedToday: 0 },
    days: [{ startMs: line.windowStartMs, endMs: line.windowEndMs }],
  });
  const moment = (atMs: number) => {
    const book = createCohortBook(line.basis);
    for (const [quarter, counts] of cohorts)
      book.put({ lineItemId: line.lineItemId, surfaceClass: 'stream', quarterMs: quarter * quarterMs, ...counts });
    const usedOpen = used() - tables.closedUsed;
    return paceLine(line, {
      ...{ atMs, used: used(), usedOpen, sums: book.sums(tables.watermarkMs, {}), budget: Infinity },
      ...{ ratePrior: { share: 0.9, servings: 100 }, day: { usedAtStart: 0, endMs: line.windowEndMs } },
      shape,
      ...{ target: 0, isLearning: false },
    });
  };

  /** A pacer that has read rows and cohorts as they are now. */
  function see(atMs: number, nodes: readonly number[]) {
    const { maxGranted, quota } = moment(atMs);
    const gone = [...rows].filter(([node, row]) => !row.counted && !nodes.includes(node)).map(([node]) => node);
    let leases = [...nodes, ...gone].map((node) => {
      const share = nodes.includes(node) ? 1 / nodes.length : 0;
      return { node, granted: 0, used: 0, ...rows.get(node), share };
    });
    const bounds = () => ({ maxGranted, quota: quota.units, leases });
    const statement = (term: number, kind: Statement['kind'], to: readonly (number | undefined)[]): Statement => ({
      ...{ term, kind },
      grants: leases.flatMap(({ node, granted }, at) =>
        to[at] === undefined ? [] : [{ node, known: granted, to: to[at] }],
      ),
    });
    return {
      lowering: (term: number) => statement(term, 'lower', lowerGrants(bounds())),
      raising: (term: number) => statement(term, 'raise', raiseGrants(bounds())),
      /** Rows that a statement returned, in place of those that were seen. */
      replace: (changed: ReadonlyMap<number, Row>) => {
        leases = leases.map((lease) => ({ ...lease, ...changed.get(lease.node) }));
      },
    };
  }

  return {
    tables,
    rows,
    cohorts,
    used,
    committedAndOpen: () => moment(line.windowStartMs).committed + sum(open().map((row) => row.granted - row.used)),
    takeTerm: () => ++tables.term,
    see,
    /** Returns the rows that it changed; undefined under an older term, which changes none. */
    run({ term, kind, grants }: Statement): ReadonlyMap<number, Row> | undefined {
      if (term !== tables.term) return undefined;
      const changed = new Map<number, Row>();
      for (const { node, known, to } of grants) {
        const row = rows.get(node) ?? { granted: 0, used: 0, closed: false, counted: false };
        if (row.closed) continue;
        if (kind === 'lower') row.granted = Math.min(row.granted, Math.max(row.used, to));
        else if (row.granted === known) row.granted = to;
        rows.set(node, row);
        changed.set(node, { ...row });
      }
      return changed;
    },
    /** The statement of a decision: refused where the constraint would be violated. */
    use(node: number, slots: number): boolean {
      const row = rows.get(node);
      if (!row || row.used + slots > row.granted) return false;
      row.used += slots;
      return true;
    },
    /** A node that leaves, or that is taken for dead. */
    close(node: number) {
      const row = rows.get(node);
      if (row) Object.assign(row, { granted: row.used, closed: true });
    },
    /** The pacer counts closed leases, each once. */
    count(term: number) {
      if (term !== tables.term) return;
      for (const row of rows.values()) {
        if (!row.closed || row.counted) continue;
        row.counted = true;
        tables.closedUsed += row.used;
      }
    },
  };
}
