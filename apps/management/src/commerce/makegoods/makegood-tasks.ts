import { findResource, listLinked, type Due } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
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

type Log = Pick<Logger, 'warn'>;

/** A line item that could not be measured is measured again after so long; longer than the pause of a task, so that others come first. */
const retryMs = 120_000;
/** A poll ends after so many in a row: then the sink is away. */
const maxInRow = 3;

/** Asks about one resource after the other. What fails is told and asked again later, and holds nothing else up. */
function askEach(logger: Log) {
  const failed = new Map<string, number>();
  return {
    /** How many of the due ones are not asked now. */
    waiting: (now: Date): number => {
      for (const [id, until] of failed) if (until <= now.getTime()) failed.delete(id);
      return failed.size;
    },
    /** Answers the id of the last one that was asked. */
    run: async <T extends Due>(due: readonly T[], now: Date, ask: (one: T) => Promise<void>) => {
      let inRow = 0;
      for (const one of due) {
        if (failed.has(one.id)) continue;
        try {
          await ask(one);
          inRow = 0;
        } catch (error) {
          failed.set(one.id, now.getTime() + retryMs);
          logger.warn({ err: error, id: one.id }, 'makegood.unmeasured');
          inRow += 1;
          if (inRow === maxInRow) return one.id;
        }
      }
      return due.at(-1)?.id;
    },
  };
}

/** Proposes makegoods of line items that ended too far below their goals, when late facts are counted. */
function draftMakegoods(measure: MeasureDelivery, logger: Log): DueTask<'makegood.draft'> {
  const asking = askEach(logger);
  const drafts = new Map<string, NonNullable<Awaited<ReturnType<typeof draftOf>>>>();
  return {
    name: 'draft-makegood',
    findDue: async (pool, now, limit) => {
      drafts.clear();
      const short: Draft[] = [];
      await asking.run(await listDueChecks(pool, now, limit + asking.waiting(now)), now, async (due) => {
        const draft = await draftOf(pool, measure, due, now);
        if (draft) {
          drafts.set(due.id, draft);
          short.push(due);
        } else await removeCheck(pool, due.id);
      });
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
  logger: Log,
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
  const asking = askEach(logger);
  return {
    name,
    findDue: async (pool, now) => {
      if (now.getTime() < pausedUntil) return [];
      const scheduled = await listScheduled(pool, now, after, maxMakegoods);
      confirmed.clear();
      asking.waiting(now);
      const due: Due[] = [];
      const last = await asking.run(scheduled, now, async (one) => {
        if (command === 'makegood.expire' && !one.is_over) return;
        const lineItem = await findResource(pool, one.workspace_id, 'line_items', one.line_item_id);
        const delivered = await measure(one.workspace_id, lineItem!);
        if (!isDue(one, delivered.confirmed)) return;
        confirmed.set(one.id, delivered.confirmed);
        due.push({ ...one, occurrence: `${one.occurrence}:${delivered.confirmed}` });
      });
      const isLast = scheduled.length < maxMakegoods && last === scheduled.at(-1)?.id;
      after = isLast ? '' : last!;
      if (isLast) pausedUntil = now.getTime() + pauseMs;
      return due;
    },
    command,
    changes: ({ id }) => ({ confirmed: confirmed.get(id)! }) as ReturnType<DueTask<C>['changes']>,
  };
}

/** The clock's tasks for makegoods. */
export const makegoodTasks = (measure: MeasureDelivery, logger: Log): readonly DueTask[] => [
  draftMakegoods(measure, logger),
  endMakegoods(measure, logger, {
    ...{ name: 'fulfil-makegood', command: 'makegood.fulfil' },
    isDue: ({ units }, confirmed) => confirmed >= units,
  }),
  endMakegoods(measure, logger, {
    ...{ name: 'expire-makegood', command: 'makegood.expire' },
    isDue: ({ units, is_over: isOver }, confirmed) => isOver && confirmed < units,
  }),
];
