import type { QueryClient } from '@tanstack/react-query';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { gather } from './gather.ts';
import { meQuery } from './me.ts';
import { asProblem } from './problems.ts';

/** After how long without a stream a page says so, in milliseconds. */
const silentMs = 10_000;
/** How long the first pause before a stream is opened anew is, and the longest one: each is twice the one before, in milliseconds. */
const [firstPauseMs, longestPauseMs] = [2000, 64_000];
/** A stream that lasts so long is no failure: the next pause is the first again. */
const steadyMs = 30_000;
/** After so many failures in a row it is asked once whether the person may still follow: a browser does not say why a stream failed. */
const failuresToAsk = 3;

/** What of a stream of changes a tab follows. */
export interface ChangeSource {
  readonly close: () => void;
  onopen: (() => void) | null;
  onerror: (() => void) | null;
  readonly addEventListener: (
    type: 'revision' | 'closed',
    listener: (event: { readonly data: string }) => void,
  ) => void;
}

export interface LiveParts {
  /** Opens the stream; answers from what comes next. */
  readonly open: (workspace: string) => ChangeSource;
  /** Calls back after a time; answers how to forget it. */
  readonly after: (ms: number, then: () => void) => () => void;
  /** Gets each resource that has changed. */
  readonly onChange: (workspace: string, type: string, id: string) => void;
  /** Called when a stream begins anew: what happened meanwhile is not known. */
  readonly onMissed: (workspace: string) => void;
  /** Reads anew who the person is; answers whether the workspace may still be followed. */
  readonly mayFollow: (workspace: string) => Promise<boolean>;
}

/**
 * The changes of the workspace that a tab shows, by one stream. A stream that ends is opened anew, after pauses that grow; one that does not come back for ten
 * seconds is said to be silent. One that the server closes goes on only while the person may follow the workspace.
 */
export function createLive({ open, after, onChange, onMissed, mayFollow }: LiveParts) {
  let isSilent = false;
  let current: { readonly workspace: string; readonly stop: () => void } | undefined;
  const listeners = new Set<() => void>();
  const say = (silent: boolean) => {
    if (isSilent === silent) return;
    isSilent = silent;
    for (const listener of listeners) listener();
  };

  function follow(workspace: string) {
    let source: ChangeSource;
    let forgetSilence: (() => void) | undefined;
    let forgetReturn: (() => void) | undefined;
    let forgetSteady: (() => void) | undefined;
    let wasLost = false;
    let failures = 0;
    let isLeft = false;
    const hear = () => {
      forgetSilence?.();
      forgetSilence = undefined;
      forgetSteady = after(steadyMs, () => void (failures = 0));
      say(false);
      if (wasLost) onMissed(workspace);
      wasLost = false;
    };
    const lose = async (isClosed: boolean) => {
      source.close();
      forgetSteady?.();
      wasLost = true;
      forgetSilence ??= after(silentMs, () => say(true));
      failures += 1;
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
      if ((isClosed || failures === failuresToAsk) && !(await mayFollow(workspace))) return;
      if (!isLeft) forgetReturn = after(pauseMs, begin);
    };
    const begin = () => {
      source = open(workspace);
      source.onopen = hear;
      source.onerror = () => void lose(false);
      source.addEventListener('closed', () => void lose(true));
      source.addEventListener('revision', ({ data }) => {
        const { subject } = JSON.parse(data) as { subject: { type: string; id: string } };
        onChange(workspace, subject.type, subject.id);
      });
    };
    begin();
    return () => {
      isLeft = true;
      source.close();
      for (const forget of [forgetSilence, forgetReturn, forgetSteady]) forget?.();
      say(false);
    };
  }

  return {
    isSilent: () => isSilent,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Follows a workspace, and no other. */
    show: (workspace: string): void => {
      if (current?.workspace === workspace) return;
      current?.stop();
      current = { workspace, stop: follow(workspace) };
    },
    stop: (): void => {
      current?.stop();
      current = undefined;
    },
  };
}

type Live = ReturnType<typeof createLive>;
let live: Live | undefined;

/** Changes within this time are one reading, in milliseconds. */
const gatherMs = 300;

/** Reads anew what shows a resource: itself, and the lists of its type. */
function liveOf(queries: QueryClient): Live {
  const after = (ms: number, then: () => void) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  };
  const readAnew = gather<readonly string[]>(gatherMs, after, (keys) => {
    for (const queryKey of keys) void queries.invalidateQueries({ queryKey });
  });
  return createLive({
    open: (workspace) => new EventSource(`/management/v1/workspaces/${workspace}/changes?after=now`) as ChangeSource,
    after,
    onChange: (workspace, type, id) => {
      for (const shown of [id, 'list']) readAnew(['management', workspace, type, shown]);
    },
    onMissed: (workspace) => void queries.invalidateQueries({ queryKey: ['management', workspace] }),
    mayFollow: async (workspace) => {
      try {
        const { workspaces } = await queries.fetchQuery({ ...meQuery, staleTime: 0 });
        return workspaces.some(({ id }) => id === workspace);
      } catch (error) {
        // 401 has ended the session of the tab; whatever else failed may pass.
        return asProblem(error).status !== 401;
      }
    },
  });
}

/** Follows the changes of a workspace while a page of it is shown. Answers whether nothing has been heard for ten seconds. */
export function useLive(workspace: string): boolean {
  const queries = useQueryClient();
  live ??= liveOf(queries);
  const { show, stop, subscribe, isSilent } = live;
  useEffect(() => {
    show(workspace);
    return stop;
  }, [workspace, show, stop]);
  return useSyncExternalStore(subscribe, isSilent);
}
