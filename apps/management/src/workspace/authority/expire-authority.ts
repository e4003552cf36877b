import { listDue } from '@longwave/command-pipeline';
import type { DueTask } from '../../background/due-task.ts';

const expireGrants: DueTask<'authority_grant.expire'> = {
  name: 'expire-authority-grant',
  findDue: (pool, now, limit) =>
    listDue(pool, { type: 'authority_grants', states: ['proposed', 'active'], at: ['expires_at'] }, now, limit),
  command: 'authority_grant.expire',
  changes: () => ({}),
};

const expireKeys: DueTask<'machine_key.expire'> = {
  name: 'expire-machine-key',
  findDue: (pool, now, limit) =>
    listDue(pool, { type: 'machine_keys', states: ['pending', 'active', 'retiring'], at: ['not_after'] }, now, limit),
  command: 'machine_key.expire',
  changes: () => ({}),
};

const endOverlaps: DueTask<'machine_key.expire'> = {
  name: 'end-key-overlap',
  findDue: (pool, now, limit) =>
    listDue(pool, { type: 'machine_keys', states: ['retiring'], at: ['overlap_until'] }, now, limit),
  command: 'machine_key.expire',
  changes: () => ({}),
};

/** Tasks of the clock about authority grants and machine keys. */
export const authorityTasks: readonly DueTask[] = [expireGrants, expireKeys, endOverlaps];
