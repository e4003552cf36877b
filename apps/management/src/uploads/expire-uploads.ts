import type { Due, DueTask } from '../clock/due-tasks.ts';
import { uploadLifeMs } from './upload.ts';

const expireUploads = (name: string, which: string): DueTask => ({
  name,
  findDue: async (pool, now, limit) => {
    const { rows } = await pool.query<Due>({
      name: `find_due_${name.replaceAll('-', '_')}`,
      text: `select id, workspace_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due_at
             from resource where resource_type = 'uploads' and ${which} and created_at <= $1
             order by created_at limit $2`,
      values: [new Date(now.getTime() - uploadLifeMs), limit],
    });
    return rows;
  },
  command: ({ id }) => ({ commandType: 'upload.expire', subject: { type: 'uploads', id }, changes: {} }),
});

/** Ends uploads 24 h after their grant: those that nothing used, and the temporary ones. */
export const uploadTasks: readonly DueTask[] = [
  expireUploads('expire-unused-upload', `lifecycle_state = 'granted'`),
  expireUploads(
    'expire-temporary-upload',
    `lifecycle_state = 'received' and attributes ->> 'upload_type' = 'temporary'`,
  ),
];
