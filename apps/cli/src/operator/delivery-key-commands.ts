import { keyWeek, kidOf, maxTokenLife } from '@longwave/delivery-token';
import type { Pool } from '@longwave/postgres';
import type { FleetAccess } from '@longwave/fleet/running';
import { needed, UsageError, type OperatorCommand } from '../command.ts';

const weekMs = 7 * 86_400_000;

async function onDelivery<T>({ databaseUrls }: FleetAccess, work: (pool: Pool) => Promise<T>): Promise<T> {
  const { createPool } = await import('@longwave/postgres');
  const pool = createPool(databaseUrls['delivery']!, 'delivery', { name: 'operator', max: 1 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

const shown = (week: number, epoch: number) => ({
  week,
  kid: kidOf(week),
  from: new Date(week * weekMs).toISOString(),
  to: new Date((week + 1) * weekMs).toISOString(),
  revoked: epoch,
});

function weekOf(text: string, now: number): number {
  const week = Number(text);
  if (!/^\d{1,6}$/.test(text) || week < keyWeek(now - maxTokenLife) || week > keyWeek(now) + 1)
    throw new UsageError(`--week ${text} is not one of the weeks that “delivery-key list” shows.`);
  return week;
}

/** Keys of delivery tokens. There is one set a week, which the service makes by itself. */
export const deliveryKeyCommands: readonly OperatorCommand[] = [
  {
    name: 'delivery-key list',
    summary: 'Lists the weeks whose delivery tokens are valid now, and how often each was revoked.',
    options: [],
    example: 'delivery-key list',
    run: (_operator, _options, fleet) =>
      onDelivery(fleet, async (pool) => {
        const { rows } = await pool.query<{ week: number; epoch: number }>('select week, epoch from revoked_week');
        const epochs = new Map(rows.map(({ week, epoch }) => [week, epoch]));
        const now = Math.floor(Date.now() / 1000);
        const oldest = keyWeek(now - maxTokenLife);
        return Array.from({ length: keyWeek(now) + 2 - oldest }, (_, later) =>
          shown(oldest + later, epochs.get(oldest + later) ?? 0),
        );
      }),
  },
  {
    name: 'delivery-key revoke',
    summary: 'Ends all delivery tokens of a week within 5 s. New ones get other keys.',
    options: [{ name: 'week', value: 'WEEK', meaning: 'number of the week, as “delivery-key list” shows it' }],
    example: 'delivery-key revoke --week 2968',
    run: async (_operator, options, fleet) => {
      const week = weekOf(needed(options, 'week'), Math.floor(Date.now() / 1000));
      return onDelivery(fleet, async (pool) => {
        const { rows } = await pool.query<{ epoch: number }>(
          `insert into revoked_week (week, epoch) values ($1, 1)
           on conflict (week) do update set epoch = revoked_week.epoch + 1, revoked_at = now() returning epoch`,
          [week],
        );
        return shown(week, rows[0]!.epoch);
      });
    },
  },
];
