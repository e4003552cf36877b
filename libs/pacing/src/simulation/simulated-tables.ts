/** A row of `quota_lease`. */
export interface LeaseRow {
  granted: number;
  used: number;
  ratePerS: number;
  burst: number;
}

interface Bucket {
  readonly ratePerS: number;
  readonly burst: number;
}

/** A change of a lease; `known` is what it had been granted when that was decided. */
export interface Grant extends Bucket {
  readonly epoch: number;
  readonly lineItemId: string;
  readonly known: number;
  readonly granted: number;
}

/** A statement of a pacer. */
export interface Statement {
  readonly term: number;
  readonly kind: 'lower' | 'raise';
  readonly grants: readonly Grant[];
}

/** A row of `serving_node`. */
interface NodeRow {
  seenAtMs: number;
  asked: ReadonlyMap<string, number>;
}

/** A node that was not seen for so long is closed. */
const silentMs = 15_000;

/**
 * The tables of pacing, with what their statements do: each whole, one after another.
 * @param isUnsafe a lease that was closed refuses nothing, as no table lets it: for a test of what the run measures
 */
export function createTables(isUnsafe: boolean) {
  const leases = new Map<string, Map<number, LeaseRow>>();
  const nodes = new Map<number, NodeRow>();
  const closedUsed = new Map<string, number>();
  let [term, epochs] = [0, 0];
  const rowsOf = (lineItemId: string) => {
    const rows = leases.get(lineItemId) ?? new Map<number, LeaseRow>();
    leases.set(lineItemId, rows);
    return rows;
  };

  function close(epoch: number): void {
    nodes.delete(epoch);
    for (const [lineItemId, rows] of leases) {
      const row = rows.get(epoch);
      if (!row) continue;
      closedUsed.set(lineItemId, (closedUsed.get(lineItemId) ?? 0) + row.used);
      rows.delete(epoch);
    }
  }

  return {
    takeTerm: () => ++term,
    /** A node that begins; answers its epoch. */
    register(atMs: number): number {
      nodes.set(++epochs, { seenAtMs: atMs, asked: new Map() });
      return epochs;
    },
    /** A node says that it lives; false once it was closed. */
    report(epoch: number, atMs: number, asked: ReadonlyMap<string, number>): boolean {
      const node = nodes.get(epoch);
      if (node) Object.assign(node, { seenAtMs: atMs, asked: new Map(asked) });
      return node !== undefined;
    },
    /** Nodes that are not closed, with what they were asked for. */
    nodes: (): ReadonlyMap<number, Readonly<NodeRow>> => nodes,
    rowsOf: (lineItemId: string): ReadonlyMap<number, Readonly<LeaseRow>> => rowsOf(lineItemId),
    closedUsed: (lineItemId: string): number => closedUsed.get(lineItemId) ?? 0,
    /** Whether the row of a lease has so many units left, as the statement of a decision needs. */
    hasUnits(epoch: number, lineItemId: string, units: number): boolean {
      const row = leases.get(lineItemId)?.get(epoch);
      return row === undefined ? isUnsafe : row.used + units <= row.granted;
    },
    use(epoch: number, lineItemId: string): void {
      const row = leases.get(lineItemId)?.get(epoch);
      if (row) row.used++;
    },
    closeSilent(ofTerm: number, atMs: number): void {
      if (ofTerm !== term) return;
      for (const [epoch, { seenAtMs }] of nodes) if (seenAtMs < atMs - silentMs) close(epoch);
    },
    /** Runs a statement, which changes nothing under an older term. */
    run({ term: ofTerm, kind, grants }: Statement): void {
      if (ofTerm !== term) return;
      for (const { epoch, lineItemId, known, granted, ratePerS, burst } of grants) {
        if (!nodes.has(epoch)) continue;
        const rows = rowsOf(lineItemId);
        const row = rows.get(epoch) ?? { granted: 0, used: 0, ratePerS, burst };
        if (kind === 'lower') row.granted = Math.min(row.granted, Math.max(row.used, granted));
        else if (row.granted === known) row.granted = Math.max(row.used, granted);
        else continue;
        Object.assign(row, { ratePerS, burst });
        rows.set(epoch, row);
      }
    },
  };
}

export type Tables = ReturnType<typeof createTables>;
