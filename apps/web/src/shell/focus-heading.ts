import type { AnyRouter } from '@tanstack/react-router';

/** After each navigation to another page the focus is on its heading, so that a screen reader says where one is. */
export function focusHeading(router: AnyRouter): void {
  router.subscribe('onRendered', ({ fromLocation, toLocation }) => {
    if (fromLocation === undefined || fromLocation.pathname === toLocation.pathname) return;
    document.querySelector<HTMLElement>('#main h1')?.focus({ preventScroll: true });
  });
}
