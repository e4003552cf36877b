import type { CallerName } from '@longwave/services';

/** A call besides its request, for its handler. */
export interface RpcContext {
  /** The calling service, from its certificate. */
  readonly caller: CallerName;
  /** The end user's signed statement, when one was sent on. */
  readonly principalStatement: string | undefined;
  /** Aborted when the caller gives up or the deadline passes. */
  readonly signal: AbortSignal;
  /** When the caller stops waiting; further calls take it as their deadline. */
  readonly deadline: Date;
}

/** A call whose handler runs. */
export interface RunningCall {
  readonly context: RpcContext;
  /** Aborts the handler's signal, unless the call was answered before. */
  cancel(): void;
  /** Takes note of the answer. Answers whether anybody still waits for it. */
  answered(): boolean;
}

/** Starts a call; its signal is made when the handler first looks at it. */
export function startCall(caller: CallerName, principalStatement: string | undefined, deadline: Date): RunningCall {
  let aborted: AbortController | undefined;
  let state: 'running' | 'answered' | 'cancelled' = 'running';
  return {
    context: {
      caller,
      principalStatement,
      get signal() {
        aborted ??= new AbortController();
        if (state === 'cancelled') aborted.abort();
        return aborted.signal;
      },
      deadline,
    },
    cancel: () => {
      if (state !== 'running') return;
      state = 'cancelled';
      aborted?.abort();
    },
    answered: () => {
      if (state === 'running') state = 'answered';
      return state === 'answered';
    },
  };
}

/** The deadline of a caller that waits for ever. */
export const never = new Date(8.64e15);
