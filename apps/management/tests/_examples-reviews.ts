import { on, type Examples } from './_example.ts';
import { hour, service } from './_values.ts';

const note = 'Ask their bank first.';

/** Valid requests for the commands of reviews and operations. */
export const reviewExamples = {
  'review.approve': async (w) => on((await w.waiting()).task, { note: 'Known for years.' }, w.reviewer),
  'review.decline': async (w) => on((await w.waiting()).task, { note }, w.reviewer),
  'review.request_changes': async (w) => on((await w.waiting()).task, { note }, w.reviewer),
  'review.withdraw': async (w) => on((await w.waiting()).task, {}, w.actor),
  'review.expire': async (w) => {
    const { task } = await w.waiting();
    w.ahead(8 * 24 * hour);
    return on(task, {}, service('management'));
  },
  'operation.cancel': async (w) => {
    await w.setEncodingLimit(hour);
    const { updated_by } = await w.send('production.start', await w.production(), {});
    const operation = { type: 'operations', id: updated_by.operation_id, version: 1 };
    return { subject: operation, changes: { cause: 'Started by mistake.' }, actor: w.actor };
  },
} satisfies Examples;
