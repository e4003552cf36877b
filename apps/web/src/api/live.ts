import type { QueryClient } from '@tanstack/react-query';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';

/** After how long without a stream a page says so, in milliseconds. */
const silentMs = 10_000;

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
}

/**
 * The changes of the workspace that a tab shows, by one stream. A stream that ends is opened anew; one that does not come back for ten seconds is
 * said to be silent.
 */
export function createLive({ open, after, onChange, onMissed }: LiveParts) {
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
    let wasLost = false;
    const lose = () => {
      wasLost = true;
      forgetSilence ??= after(silentMs, () => say(true));
    };
    const begin = () => {
      source = open(workspace);
      source.onopen = () => {
        forgetSilence?.();
        forgetSilence = undefined;
        say(false);
        if (wasLost) onMissed(workspace);
        wasLost = false;
      };
      source.onerror = () => {
        source.close();
        lose();
        forgetReturn = after(2000, begin);
      };
      source.addEventListener('revision', ({ data }) => {
        const { subject } = JSON.parse(data) as { subject: { type: string; id: string } };
        onChange(workspace, subject.type, subject.id);
      });
    };
    begin();
    return () => {
      source.close();
      forgetSilence?.();
      forgetReturn?.();
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

/** Reads anew what shows a resource: itself, and the lists of its type. Several changes at once are one reading. */
const liveOf = (queries: QueryClient): Live =>
  createLive({
    open: (workspace) => new EventSource(`/management/v1/workspaces/${workspace}/changes?after=now`) as ChangeSource,
    after: (ms, then) => {
      const timer = setTimeout(then, ms);
      return () => clearTimeout(timer);
    },
    onChange: (workspace, type, id) => {
      void queries.invalidateQueries({ queryKey: ['management', workspace, type, id] });
      void queries.invalidateQueries({ queryKey: ['management', workspace, type, 'list'] });
    },
    onMissed: (workspace) => void queries.invalidateQueries({ queryKey: ['management', workspace] }),
  });

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
