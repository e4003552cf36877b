export { LeaseEnded } from './keep-lease.ts';
export { leasedWorker } from './leased-worker.ts';
export { openSubscriber } from './open-subscriber.ts';
export { pollLoop, type PollLoop } from './poll-loop.ts';
export { sleep } from './sleep.ts';
