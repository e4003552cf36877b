import type { Pool, Session } from '@longwave/postgres';

type Query = (
  config: string | { readonly text: string; readonly name?: string },
  ...rest: readonly unknown[]
) => unknown;

/** Records every statement of a pool during some work, by its name or else its text. */
export async function statementsOf(pool: Pool, work: () => Promise<unknown>): Promise<readonly string[]> {
  const statements: string[] = [];
  const taught = new Map<Session, Query>();
  const teach = (client: Session) => {
    if (taught.has(client)) return;
    const query = client.query.bind(client) as Query;
    taught.set(client, query);
    Object.assign(client, {
      query: (config: Parameters<Query>[0], ...rest: readonly unknown[]) => {
        statements.push(typeof config === 'string' ? config : (config.name ?? config.text));
        return query(config, ...rest);
      },
    });
  };
  pool.on('acquire', teach);
  await work();
  pool.off('acquire', teach);
  for (const [client, query] of taught) Object.assign(client, { query });
  return statements;
}
