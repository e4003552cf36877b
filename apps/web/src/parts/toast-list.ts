/** A short message about something that has happened. */
export interface Toast {
  readonly id: number;
  readonly text: string;
}

/** How long a message stays, in milliseconds; longer for longer texts. */
export const toastMs = (text: string): number => Math.max(5000, text.length * 90);

/** Messages that are shown, oldest first; at most three. */
export interface ToastList {
  readonly current: () => readonly Toast[];
  readonly subscribe: (onChange: () => void) => () => void;
  readonly show: (text: string) => number;
  readonly close: (id: number) => void;
}

const toastsMax = 3;

/** An empty list. It keeps no time: whoever shows a message closes it. */
export function createToastList(): ToastList {
  let toasts: readonly Toast[] = [];
  let last = 0;
  const listeners = new Set<() => void>();
  const change = (next: readonly Toast[]) => {
    toasts = next;
    for (const listener of listeners) listener();
  };
  return {
    current: () => toasts,
    subscribe: (onChange) => {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
    show: (text) => {
      last += 1;
      change([...toasts, { id: last, text }].slice(-toastsMax));
      return last;
    },
    close: (id) => change(toasts.filter((toast) => toast.id !== id)),
  };
}
