import { t } from '../../../messages/messages.ts';
import { verdictName } from '../../../commands/words.ts';
import { classes } from '../../../look/classes.ts';
import { Card } from '../../../parts/card.tsx';
import { numberText } from '../../../parts/format.ts';
import { Table, type Column } from '../../../parts/table.tsx';
import { Length } from '../../../parts/time.tsx';
import { usePlace } from '../../../shell/place.ts';
import { ResourceName } from '../attribute-value.tsx';
import { breakName } from './break-name.ts';
import type { Candidate, Pick, Stage, Trace } from './decision-queries.ts';
import { slotsOf } from './why-not.ts';
import { stageName, tierName } from './words.ts';
import styles from './decisions.module.css';

/** The steps of a break, each with how many line items were left, and what dropped the others. */
function Funnel({ stages }: { readonly stages: readonly Stage[] }) {
  const { language } = usePlace();
  const say = (count: number) => numberText(count, language);
  const all = Math.max(1, stages[0]?.in ?? 1);
  return (
    <ol className={styles.funnel}>
      {stages.map((stage) => (
        <li key={stage.name}>
          <span className={styles.stage}>{stageName(stage.name)}</span>
          <span className="number">{t('decisions.of', { left: say(stage.out), all: say(stage.in) })}</span>
          <span className={styles.bar} aria-hidden>
            <i style={{ width: `${(stage.out / all) * 100}%` }} />
          </span>
          {Object.entries(stage.dropped_by)
            .toSorted(([, a], [, b]) => b - a)
            .map(([code, count]) => (
              <span key={code} className={styles.dropped}>
                {t('decisions.dropped', { count: say(count), reason: verdictName(code) })}
              </span>
            ))}
        </li>
      ))}
    </ol>
  );
}

/** What each slot was given. */
const Slots = ({ workspace, slots }: { readonly workspace: string; readonly slots: readonly (Pick | undefined)[] }) => (
  <ol className={styles.slots}>
    {slots.map((pick, slot) => (
      <li key={slot} className={classes(pick && styles.filled)}>
        <span className={styles.slot}>{t('decisions.slot', { slot: slot + 1 })}</span>
        {pick ? (
          <>
            <ResourceName workspace={workspace} id={pick.line_item_id} />
            <ResourceName workspace={workspace} id={pick.creative_id} />
            <Length ms={pick.duration_ms} />
            <small className={styles.code}>{pick.serving_id}</small>
          </>
        ) : (
          <span className={styles.nothing}>{t('decisions.slot_empty')}</span>
        )}
      </li>
    ))}
  </ol>
);

const columnsOf = (workspace: string): readonly Column<Candidate>[] => [
  {
    key: 'line',
    name: 'decisions.line_item',
    cell: ({ line_item_id: id }) => <ResourceName workspace={workspace} id={id} />,
  },
  {
    key: 'verdict',
    name: 'decisions.verdict',
    cell: ({ verdict, codes }) => (
      <span>
        {verdictName(verdict)}
        <small className={styles.code}>{codes.join(', ')}</small>
      </span>
    ),
  },
  { key: 'tier', name: 'decisions.tier', cell: ({ tier }) => tierName(tier) },
  {
    key: 'rank',
    name: 'decisions.rank',
    end: true,
    cell: ({ rank }) => (rank === null ? <span title={t('decisions.not_considered')}>–</span> : rank),
  },
];

/** How one break was filled: its steps, its slots, its candidates. */
export function BreakCard({
  workspace,
  trace,
  breakKey,
}: {
  readonly workspace: string;
  readonly trace: Trace;
  readonly breakKey: string;
}) {
  const stages = trace.stages.filter((stage) => stage.break_key === breakKey);
  const candidates = trace.candidates.filter((one) => one.break_key === breakKey);
  const asked = trace.request_class.breaks.find(({ key }) => key === breakKey);
  const slots = slotsOf(trace.picks, breakKey, asked?.max_slots ?? 0);
  const all = stages[0]?.in ?? 0;
  const name = breakName(trace, breakKey);
  return (
    <Card
      title={name}
      plain
      {...(asked && {
        basis: t('decisions.break_basis', {
          slots: asked.max_slots,
          seconds: Math.round(asked.max_duration_ms / 1000),
        }),
      })}
    >
      <div className={styles.inside}>
        <Slots workspace={workspace} slots={slots} />
        <Funnel stages={stages} />
        {candidates.length < all && (
          <p className={styles.note}>{t('decisions.listed', { listed: candidates.length, all })}</p>
        )}
      </div>
      {candidates.length > 0 && (
        <Table
          name={t('decisions.candidates', { name })}
          columns={columnsOf(workspace)}
          rows={candidates}
          keyOf={({ line_item_id: id }) => id}
          firstSort={{ key: 'rank', descending: false }}
          search={{}}
          onSearch={() => undefined}
        />
      )}
    </Card>
  );
}
