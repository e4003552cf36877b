import { listDue } from '@longwave/command-pipeline';
import type { DueTask } from '../background/due-task.ts';

const lapseSurfaces: DueTask<'surface_capability.lapse'> = {
  name: 'lapse-surface',
  findDue: (pool, now, limit) =>
    listDue(
      pool,
      { type: 'surface_capabilities', states: ['current'], at: ['capability', 'valid_until'], eachVersion: true },
      now,
      limit,
    ),
  command: 'surface_capability.lapse',
  changes: () => ({}),
};

const lapseContent: DueTask<'content_snapshot.lapse'> = {
  name: 'lapse-content',
  findDue: (pool, now, limit) =>
    listDue(
      pool,
      { type: 'content_snapshots', states: ['ready'], at: ['content', 'episode', 'rights', 'until'] },
      now,
      limit,
    ),
  command: 'content_snapshot.lapse',
  changes: () => ({}),
};

/** Tasks of the clock about what hosting platforms have said. */
export const exchangeTasks: readonly DueTask[] = [lapseSurfaces, lapseContent];
