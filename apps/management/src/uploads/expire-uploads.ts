import type { Due, DueTask } from '../clock/due-tasks.ts';
import { isRead, isUsed } from './upload-use.ts';
import { uploadLifeMs } from './upload.ts';

const isTemporary = `x.attributes ->> 'upload_type' = 'temporary'`;

/** A task for uploads 24 h after their grant; what would be refused is not due, so nothing is tried in vain for ever. */
const afterLife = (
  name: string,
  command: 'upload.expire' | 'upload.receive',
  which: string,
): DueTask<'upload.expire' | 'upload.receive'> => ({
  name,
  findDue: async (pool, now, limit) => {
    const { rows } = await pool.query<Due>({
      name: `find_due_${name.replaceAll('-', '_')}`,
      text: `select id, workspace_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due_at
             from resource x where resource_type = 'uploads' and ${which} and created_at <= $1
             order by created_at limit $2`,
      values: [new Date(now.getTime() - uploadLifeMs), limit],
    });
    return rows;
  },
  command,
  changes: () => ({}),
});

/** Ends uploads 24 h after their grant: those that nothing uses, and the temporary ones. The others are looked at no more. */
export const uploadTasks: readonly DueTask[] = [
  afterLife(
    'expire-unused-upload',
    'upload.expire',
    `lifecycle_state = 'granted' and not ${isRead} and (${isTemporary} or not ${isUsed})`,
  ),
  afterLife('keep-used-upload', 'upload.receive', `lifecycle_state = 'granted' and not (${isTemporary}) and ${isUsed}`),
  afterLife(
    'expire-temporary-upload',
    'upload.expire',
    `lifecycle_state = 'received' and ${isTemporary} and not ${isRead}`,
  ),
];
