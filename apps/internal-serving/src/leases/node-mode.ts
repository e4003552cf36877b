/** How slots of goals are counted: by quota leases, or, while releases up to 0.7.0 run, by the guard of theirs (docs/pacing.md). */
export type ServingMode = 'guard' | 'lease';

/** What a node counts by; `none` while the mode is another one, or changes: it gives no slots of goals then. */
export type NodeMode = 'lease' | 'none';

/** The row that all nodes follow. */
export interface ModeRow {
  readonly mode: ServingMode;
  /** What was asked for; `mode` follows once every live node counts by none. */
  readonly wanted: ServingMode;
}

/** What a node counts by next. */
export const nextNodeMode = ({ mode, wanted }: ModeRow): NodeMode =>
  mode === 'lease' && wanted === 'lease' ? 'lease' : 'none';

interface DecisionInMode extends Disposable {
  readonly mode: NodeMode;
}

export interface CurrentMode {
  current(): NodeMode;
  /** Begins a decision, which ends when it is disposed. */
  begin(): DecisionInMode;
  /** Decisions begin in this mode from now on. Resolves when those of other modes have ended. */
  change(next: NodeMode): Promise<void>;
}

/** The mode of this node's decisions, `none` at first. */
export function createCurrentMode(): CurrentMode {
  let mode: NodeMode = 'none';
  const open = new Map<NodeMode, number>();
  let waiting: { readonly next: NodeMode; readonly done: () => void }[] = [];

  const hasEnded = (next: NodeMode) => [...open].every(([of, count]) => of === next || count === 0);

  function end(of: NodeMode): void {
    open.set(of, open.get(of)! - 1);
    const ended = waiting.filter(({ next }) => hasEnded(next));
    waiting = waiting.filter((one) => !ended.includes(one));
    for (const { done } of ended) done();
  }

  return {
    current: () => mode,
    begin() {
      const begun = mode;
      open.set(begun, (open.get(begun) ?? 0) + 1);
      return { mode: begun, [Symbol.dispose]: () => end(begun) };
    },
    async change(next) {
      mode = next;
      if (hasEnded(next)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ next, done: resolve });
      await promise;
    },
  };
}
