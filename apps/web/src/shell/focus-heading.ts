import type { AnyRouter } from '@tanstack/react-router';

const focusOn = (heading: HTMLElement | null): boolean => {
  heading?.focus({ preventScroll: true });
  return heading !== null;
};
const headingOf = (main: HTMLElement) => main.querySelector<HTMLElement>('h1');

/**
 * After each navigation to another page the focus is on its heading, so that a screen reader says where one is, unless the person moved it meanwhile, as
 * by opening a menu. A page whose thing is still read has no heading: it has the focus once it is there, unless the person went on meanwhile.
 */
export function focusHeading(router: AnyRouter): void {
  let waiting: MutationObserver | undefined;
  let focusedBefore: Element | null = null;
  router.subscribe('onBeforeNavigate', () => {
    focusedBefore = document.activeElement;
  });
  router.subscribe('onRendered', ({ fromLocation, toLocation }) => {
    if (fromLocation === undefined || fromLocation.pathname === toLocation.pathname) return;
    waiting?.disconnect();
    const focusedNow = document.activeElement;
    if (focusedNow !== focusedBefore && focusedNow !== document.body) return;
    const main = document.querySelector<HTMLElement>('#main');
    if (!main || focusOn(headingOf(main))) return;
    const observer = new MutationObserver(() => {
      if (document.activeElement !== focusedNow || focusOn(headingOf(main))) observer.disconnect();
    });
    observer.observe(main, { childList: true, subtree: true });
    waiting = observer;
  });
}
