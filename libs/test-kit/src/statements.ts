import type { Pool, Session } from '@longwave/postgres';

interface Statement {
  readonly text: string;
  readonly name?: string;
  readonly values?: readonly unknown[];
}
type Query = (config: string | Statement, ...rest: readonly unknown[]) => unknown;

/** Records every statement of a pool during some work, with its values. */
export async function recordStatements(pool: Pool, work: () => Promise<unknown>): Promise<readonly Statement[]> {
  const statements: Statement[] = [];
  const taught = new Map<Session, Query>();
  const teach = (client: Session) => {
    if (taught.has(client)) return;
    const query = client.query.bind(client) as Query;
    taught.set(client, query);
    Object.assign(client, {
      query: (config: Parameters<Query>[0], ...rest: readonly unknown[]) => {
        const [values] = rest;
        statements.push(
          typeof config === 'string' ? { text: config, ...(Array.isArray(values) && { values }) } : config,
        );
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

/** The statements of a pool during some work, each by its name or else its text. */
export const statementsOf = async (pool: Pool, work: () => Promise<unknown>): Promise<readonly string[]> =>
  (await recordStatements(pool, work)).map(({ name, text }) => name ?? text);

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows that the scans of a plan read, those that a filter removed counted. */
const rowsOf = (node: PlanNode): number =>
  (node['Relation Name'] === undefined
    ? 0
    : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']) +
  (node.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);

/** What a query costs: the rows that it reads and the blocks of 8 KiB that it touches. It is run once more, and changes nothing. */
export async function costOf(pool: Pool, { text, values = [] }: Statement) {
  const { rows } = await pool.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
    `explain (analyze, buffers, format json) ${text}`,
    [...values],
  );
  const { Plan: plan } = rows[0]!['QUERY PLAN'][0]!;
  return { rows: rowsOf(plan), blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}
