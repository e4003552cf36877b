/** Whether an answer of this tab said that the session is over. It stays so until the page is loaded anew, as it is after signing in. */
let isOver = false;
const listeners = new Set<() => void>();

export const session = {
  isOver: () => isOver,
  subscribe: (onChange: () => void) => {
    listeners.add(onChange);
    return () => void listeners.delete(onChange);
  },
  /** Notes that a request was refused with 401. */
  end: () => {
    isOver = true;
    for (const listener of listeners) listener();
  },
};
