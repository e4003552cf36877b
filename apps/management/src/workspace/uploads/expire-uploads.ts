import type { DueTask } from '../../background/due-task.ts';
import { uploadLifeMs } from './upload.ts';
import { listDueUploads, type UploadEnd } from './upload-use-table.ts';

/** A task for uploads 24 h after their grant. Uploads that the command would refuse are not due, or the clock would retry them for ever. */
const afterLife = (
  name: string,
  command: 'upload.expire' | 'upload.complete',
  end: UploadEnd,
): DueTask<'upload.expire' | 'upload.complete'> => ({
  name,
  findDue: (pool, now, limit) => listDueUploads(pool, end, new Date(now.getTime() - uploadLifeMs), limit),
  command,
  changes: () => ({}),
});

/** Ends uploads 24 h after their grant: unused and temporary ones. The others are marked as received and are no longer due. */
export const uploadTasks: readonly DueTask[] = [
  afterLife('expire-unused-upload', 'upload.expire', 'unused'),
  afterLife('keep-used-upload', 'upload.complete', 'used'),
  afterLife('expire-temporary-upload', 'upload.expire', 'temporary'),
];
