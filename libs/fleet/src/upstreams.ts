import type { SupervisedService } from './supervised-service.ts';

/** One process behind an edge. */
export interface Upstream {
  /** Of 127.0.0.1. */
  readonly port: number;
  /** Whether it should get requests now. */
  readonly takesRequests: () => boolean;
}

const pollEveryMs = 500;

/** A process alone: it gets every request, whatever it says about itself. */
export const soleUpstream = (port: number): Upstream => ({ port, takesRequests: () => true });

/** A process that gets requests while its `/readyz` answers 200, asked twice a second, and none from the moment it is told to stop. */
export function watchedUpstream(service: SupervisedService, port: number, stack: AsyncDisposableStack): Upstream {
  let isReady = true;
  const polling = setInterval(() => {
    void service.isReady().then((answer) => {
      isReady = answer;
    });
  }, pollEveryMs);
  stack.defer(() => clearInterval(polling));
  return { port, takesRequests: () => isReady && !service.isStopping };
}
