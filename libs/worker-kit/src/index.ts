export { keepLease, LeaseEnded, type HeldLease, type LeaseTerms } from './keep-lease.ts';
export { leasedWorker, type LeasedWorkerOptions } from './leased-worker.ts';
export { pollLoop, type PollLoop, type PollOptions } from './poll-loop.ts';
export { sleep } from './sleep.ts';
