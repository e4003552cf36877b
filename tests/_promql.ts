import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { z } from 'zod';

const root = path.resolve(import.meta.dirname, '..');

/** The file of the alerting rules, from the root of the repository. */
export const rulesFile = 'deploy/alerts/longwave.yaml';

const rulesSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});

const dashboardSchema = z.looseObject({
  uid: z.string(),
  title: z.string(),
  panels: z.array(
    z.looseObject({
      title: z.string(),
      targets: z.array(z.strictObject({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).min(1),
    }),
  ),
});

export const readAlerts = () =>
  rulesSchema.parse(parse(readFileSync(path.join(root, rulesFile), 'utf8'))).groups.flatMap(({ rules }) => rules);

/** An expression of PromQL, and where it stands. */
interface Query {
  readonly place: string;
  readonly expr: string;
  /** The labels that its legend names. */
  readonly shown: readonly string[];
}

/** The expressions of all alerts and dashboards. */
export function listQueries(): readonly Query[] {
  const alerts = readAlerts().map(({ alert, expr, annotations: { summary } }) => ({
    ...{ place: alert, expr },
    shown: [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!),
  }));
  const panels = globSync('deploy/dashboards/*.json', { cwd: root }).flatMap((file) => {
    const { panels } = dashboardSchema.parse(JSON.parse(readFileSync(path.join(root, file), 'utf8')));
    return panels.flatMap(({ title, targets }) =>
      targets.map(({ expr, legendFormat }) => ({
        ...{ place: `${path.basename(file)}: ${title}`, expr },
        shown: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!),
      })),
    );
  });
  return [...alerts, ...panels];
}

/** What an expression asks of metrics: their names with the labels that it chooses by, and the labels that it groups by. */
export interface AskedOf {
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[];
  readonly groups: readonly string[];
}

/** Reads an expression with Prometheus's own grammar. Throws for one that is wrong. */
export function readPromql(expr: string): AskedOf {
  const metrics: { name: string; labels: string[] }[] = [];
  const groups: string[] = [];
  let isGrouping = false;
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      const text = expr.slice(from, to);
      if (type.isError) throw new Error(`“${expr}” is no PromQL at ${from}.`);
      if (type.name === 'GroupingLabels') isGrouping = true;
      else if (type.name === 'Identifier') metrics.push({ name: text, labels: [] });
      else if (type.name === 'LabelName') (isGrouping ? groups : metrics.at(-1)!.labels).push(text);
    },
    leave: ({ type }) => {
      if (type.name === 'GroupingLabels') isGrouping = false;
    },
  });
  return { metrics, groups };
}
