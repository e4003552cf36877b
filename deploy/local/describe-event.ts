import type { ServiceEvent } from '@longwave/fleet';

/** A line for the person who started the services. */
export function describeEvent(event: ServiceEvent): string {
  switch (event.kind) {
    case 'certificates-not-renewed':
      return `✗ the certificates between services cannot be renewed: ${event.reason}`;
    case 'exited':
      return `✗ ${event.service} ended (${event.exit.signal ?? `exit code ${event.exit.code}`}), starting it again`;
    case 'restart-failed':
      return `✗ ${event.service} cannot be started, trying again in ${event.restartInMs / 1000} s: ${event.reason.split('\n')[0]}`;
    case 'restarted':
      return `  ${event.service} runs again (process ${event.pid})`;
  }
}
