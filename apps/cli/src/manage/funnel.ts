import { z } from 'zod';
import type { ManagementApi } from './management-api.ts';
import { columns } from './table.ts';
import { queryOf, readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

const changeable = { code: z.string(), change: z.string().nullable() };
const stages = ['requests', 'breaks', 'opportunities', 'decided', 'served', 'delivered', 'confirmed'] as const;

const funnelSchema = z.looseObject({
  line_item_id: z.string(),
  from: z.string(),
  to: z.string(),
  pacing: z
    .looseObject({
      ...{ state: z.string(), urgency: z.number(), goal: z.number() },
      ...{ used: z.number(), committed: z.number(), target: z.number() },
    })
    .nullable(),
  fit: z
    .looseObject({
      ...{ breaks: z.number(), fits: z.number() },
      stages: z.array(z.looseObject({ ...changeable, breaks: z.number() })),
      winners: z.array(z.looseObject({ line_item_id: z.string(), name: z.string(), slots: z.number() })),
    })
    .nullable(),
  total: z.looseObject({
    ...(Object.fromEntries(stages.map((stage) => [stage, z.number()])) as Record<(typeof stages)[number], z.ZodNumber>),
    verdicts: z.array(z.looseObject({ ...changeable, considered: z.number(), not_looked_at: z.number() })),
  }),
  hours: z.array(
    z.looseObject({
      hour: z.string(),
      ...{ decided: z.number(), confirmed: z.number() },
      pacing: z.looseObject({ target: z.number(), committed: z.number(), short_by: z.string().nullable() }).nullable(),
    }),
  ),
});
type Funnel = z.infer<typeof funnelSchema>;

/** Rows below a heading; nothing where there are none. */
const section = (heading: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : [`${heading}\n${columns(rows).replaceAll(/^/gm, '  ')}`];

const ask = (change: string | null) => (change === null ? '' : `ask a forecast with another ${change}`);
const rounded = (value: number) => String(Math.round(value));

function funnelText({ line_item_id: id, from, to, pacing, fit, total, hours }: Funnel): string {
  const stand = pacing && [
    `now ${pacing.state}, urgency ${pacing.urgency}: goal ${pacing.goal}, used ${pacing.used},`,
    `committed ${rounded(pacing.committed)}, target ${rounded(pacing.target)}`,
  ];
  return [
    [`${id}  ${from} to ${to}`, ...(stand ? [stand.join(' ')] : ['It is not paced.'])].join('\n'),
    ...section(
      'From what the workspace offered to what was confirmed:',
      stages.map((stage) => [stage, String(total[stage])]),
    ),
    ...section(
      'What was decided about it, by breaks (looked at, not looked at):',
      total.verdicts.map((each) => [
        ...[each.code, String(each.considered), String(each.not_looked_at), ask(each.change)],
      ]),
    ),
    ...(fit
      ? [
          `Of ${fit.breaks} breaks of sampled plays it fits ${fit.fits}.`,
          ...section(
            'The others, by the first check that it fails:',
            fit.stages.map((each) => [each.code, String(each.breaks), ask(each.change)]),
          ),
          ...section(
            'In front of it, by slots:',
            fit.winners.map((each) => [each.line_item_id, String(each.slots), each.name]),
          ),
        ]
      : ['What it fits is not known: it could serve nowhere, or nobody could say in time. Ask again.']),
    ...section(
      'By the hour:',
      hours.length === 0
        ? []
        : [
            ['hour', 'target', 'committed', 'decided', 'confirmed', 'short by'],
            ...hours.map((each) => [
              ...[
                each.hour,
                each.pacing ? rounded(each.pacing.target) : '',
                each.pacing ? rounded(each.pacing.committed) : '',
              ],
              ...[String(each.decided), String(each.confirmed), each.pacing?.short_by ?? ''],
            ]),
          ],
    ),
  ].join('\n\n');
}

/** `manage funnel LINE_ITEM`: where a line item stands, and why it was given no more slots. */
export async function showFunnel(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, ['LINE_ITEM'], { from: { type: 'string' }, to: { type: 'string' } });
  const workspace = `/workspaces/${await workspaceOf(api, values.workspace)}`;
  const query = queryOf({ from: values.from, to: values.to }).toString();
  const path = `${workspace}/line-items/${encodeURIComponent(positionals[0]!)}/funnel`;
  const answer = await api.ask({ path: query === '' ? path : `${path}?${query}` });
  return values.json ? JSON.stringify(answer, null, 2) : funnelText(funnelSchema.parse(answer));
}
