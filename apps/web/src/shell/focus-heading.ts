import type { AnyRouter } from '@tanstack/react-router';

const focusOn = (heading: HTMLElement | null): boolean => {
  heading?.focus({ preventScroll: true });
  return heading !== null;
};
const headingOf = (main: HTMLElement) => main.querySelector<HTMLElement>('h1');

/**
 * After each navigation to another page the focus is on its heading, so that a screen reader says where one is. A page whose thing is still read has
 * none: its heading has the focus once it is there, unless the person went on meanwhile.
 */
export function focusHeading(router: AnyRouter): void {
  let waiting: MutationObserver | undefined;
  router.subscribe('onRendered', ({ fromLocation, toLocation }) => {
    if (fromLocation === undefined || fromLocation.pathname === toLocation.pathname) return;
    waiting?.disconnect();
    const main = document.querySelector<HTMLElement>('#main');
    if (!main || focusOn(headingOf(main))) return;
    const focused = document.activeElement;
    const observer = new MutationObserver(() => {
      if (document.activeElement !== focused || focusOn(headingOf(main))) observer.disconnect();
    });
    observer.observe(main, { childList: true, subtree: true });
    waiting = observer;
  });
}
