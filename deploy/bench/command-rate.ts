import { newId } from '@longwave/ids';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import type { QueryConfig } from 'pg';
import { startCommandSender } from './command-sender.ts';
import { compare, ratePerSecond, type Row } from './measure.ts';

/** A pool that writes down what is sent through it. */
function recordingPool(pool: Pool, record: QueryConfig[]): Pool {
  const connect = async () => {
    const client = await pool.connect();
    const query = client.query.bind(client) as (config: unknown, values?: unknown) => unknown;
    return new Proxy(client, {
      get: (target, name) => {
        if (name === 'query')
          return (config: QueryConfig | string, values?: unknown[]) => {
            if (typeof config === 'object') record.push({ ...config });
            return query(config, values);
          };
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  };
  return new Proxy(pool, { get: (target, name) => (name === 'connect' ? connect : Reflect.get(target, name)) });
}

/** The statements of one command with every id made fresh, ready to be sent again. */
function renew(statements: readonly QueryConfig[], workspaceId: string): QueryConfig[] {
  const text = JSON.stringify(statements);
  const fresh = new Map<string, string>();
  const renewed = text.replace(/\b(adv|op|evt|rcp|req|ws)_[0-9a-z]{26}\b/g, (id, prefix: string) => {
    if (prefix === 'ws') return workspaceId;
    if (!fresh.has(id)) fresh.set(id, newId(prefix));
    return fresh.get(id)!;
  });
  return JSON.parse(renewed) as QueryConfig[];
}

/** Commands per second through the pipeline against the same SQL, prepared, by raw `pg` in the same transactions. */
export async function commandRate(): Promise<Row> {
  await using commands = await startCommandSender();
  const { pool, send } = commands;
  const statements: QueryConfig[] = [];
  await commands.senderOver(recordingPool(pool, statements))(newId('ws'));

  const total = 1500;
  const width = 8;
  const workspaces = () => Array.from({ length: width }, () => newId('ws'));
  return await compare(
    { name: 'commands', unit: '/s', baselineName: 'the same SQL by raw pg' },
    5,
    () => {
      const spread = workspaces();
      return ratePerSecond(total, width, (i) => send(spread[i % width]!));
    },
    async () => {
      const spread = workspaces();
      const prepared = Array.from({ length: total }, (_, i) => renew(statements, spread[i % width]!));
      return ratePerSecond(total, width, (i) =>
        transaction(pool, async (tx: Transaction) => {
          let seq: unknown;
          for (const statement of prepared[i]!) {
            // The place in the receipt chain is the one value that an earlier statement of the transaction gives.
            if (statement.name === 'save_operation') statement.values![11] = seq;
            const { rows } = await tx.query<{ seq?: number }>(statement);
            seq = rows[0]?.seq ?? seq;
          }
        }),
      );
    },
  );
}
