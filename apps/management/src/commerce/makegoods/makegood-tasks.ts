import { findResource, listLinked } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { DueTask } from '../../background/due-task.ts';
import { isShort, openStates, shortfallOf, unitsMadeGood } from './makegood.ts';
import type { MeasureDelivery } from './measure-delivery.ts';
import { listDueChecks, listScheduled, removeCheck, type ScheduledMakegood } from './shortfall-table.ts';

type Draft = Parameters<DueTask<'makegood.draft'>['changes']>[0];

/** What the clock drafts for a line item; undefined where nothing is missing, or a person was faster. */
async function draftOf(pool: Pool, measure: MeasureDelivery, { id, workspace_id: workspaceId }: Draft, now: Date) {
  const lineItem = await findResource(pool, workspaceId, 'line_items', id);
  if (!lineItem || !['completed', 'stopped'].includes(lineItem.lifecycle_state)) return undefined;
  const makegoods = await listLinked(pool, workspaceId, 'makegoods', 'for_line_item', id);
  if (makegoods.some(({ lifecycle_state: state }) => openStates.includes(state))) return undefined;
  const { confirmed, adjusted } = await measure(workspaceId, lineItem);
  const delivery = {
    ...{ measured_at: now.toISOString(), goal: lineItem.attributes.goal.quantity! },
    ...{ confirmed, adjusted },
  };
  if (!isShort(delivery) || shortfallOf(delivery) <= unitsMadeGood(makegoods)) return undefined;
  return { for_line_item: id, delivery };
}

/** Proposes makegoods of line items that ended too far below their goals, when late facts are counted. */
function draftMakegoods(measure: MeasureDelivery): DueTask<'makegood.draft'> {
  const drafts = new Map<string, NonNullable<Awaited<ReturnType<typeof draftOf>>>>();
  return {
    name: 'draft-makegood',
    findDue: async (pool, now, limit) => {
      drafts.clear();
      const short = [];
      for (const due of await listDueChecks(pool, now, limit)) {
        const draft = await draftOf(pool, measure, due, now);
        if (draft) {
          drafts.set(due.id, draft);
          short.push(due);
        } else await removeCheck(pool, due.id);
      }
      return short;
    },
    command: 'makegood.draft',
    creates: true,
    changes: ({ id }) => drafts.get(id)!,
  };
}

/** Makegoods of one poll, and the pause after a poll of the last ones. */
const maxMakegoods = 50;
const pauseMs = 60_000;

/** Ends scheduled makegoods by what their line items have delivered; each is measured about once a minute. */
function endMakegoods<C extends 'makegood.fulfil' | 'makegood.expire'>(
  measure: MeasureDelivery,
  {
    name,
    command,
    isDue,
  }: {
    readonly name: string;
    readonly command: C;
    readonly isDue: (makegood: ScheduledMakegood, confirmed: number) => boolean;
  },
): DueTask<C> {
  let after = '';
  let pausedUntil = 0;
  const confirmed = new Map<string, number>();
  return {
    name,
    findDue: async (pool, now) => {
      if (now.getTime() < pausedUntil) return [];
      const scheduled = await listScheduled(pool, now, after, maxMakegoods);
      after = scheduled.length < maxMakegoods ? '' : scheduled.at(-1)!.id;
      if (after === '') pausedUntil = now.getTime() + pauseMs;
      confirmed.clear();
      const due = [];
      for (const one of scheduled) {
        if (command === 'makegood.expire' && !one.is_over) continue;
        const lineItem = await findResource(pool, one.workspace_id, 'line_items', one.line_item_id);
        const delivered = await measure(one.workspace_id, lineItem!);
        if (!isDue(one, delivered.confirmed)) continue;
        confirmed.set(one.id, delivered.confirmed);
        due.push({ ...one, occurrence: `${one.occurrence}:${delivered.confirmed}` });
      }
      return due;
    },
    command,
    changes: ({ id }) => ({ confirmed: confirmed.get(id)! }) as ReturnType<DueTask<C>['changes']>,
  };
}

/** The clock's tasks for makegoods. */
export const makegoodTasks = (measure: MeasureDelivery): readonly DueTask[] => [
  draftMakegoods(measure),
  endMakegoods(measure, {
    ...{ name: 'fulfil-makegood', command: 'makegood.fulfil' },
    isDue: ({ units }, confirmed) => confirmed >= units,
  }),
  endMakegoods(measure, {
    ...{ name: 'expire-makegood', command: 'makegood.expire' },
    isDue: ({ units, is_over: isOver }, confirmed) => isOver && confirmed < units,
  }),
];
