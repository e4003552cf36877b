export { LeaseEnded } from './keep-lease.ts';
export { leasedWorker } from './leased-worker.ts';
export { openSubscriber } from './open-subscriber.ts';
export { pollLoop, type PollLoop } from './poll-loop.ts';
export { reportByCommand } from './report-by-command.ts';
export { sleep } from './sleep.ts';
export { createTurns } from './turns.ts';
