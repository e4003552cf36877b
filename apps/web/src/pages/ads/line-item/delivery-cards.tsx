import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { seesCampaigns, type Workspace } from '../../../api/me.ts';
import type { Resource } from '../../../api/management.ts';
import { verdictName } from '../../../commands/words.ts';
import { t } from '../../../messages/messages.ts';
import { Card } from '../../../parts/card.tsx';
import { numberText, shareText } from '../../../parts/format.ts';
import { Loaded } from '../../../parts/loaded.tsx';
import { usePlace } from '../../../shell/place.ts';
import { Figure, Figures } from '../figure.tsx';
import { funnelQuery, isBeyondHours, lastDay, neededPerDay, verdictsOf, wonOf, type Hour } from './funnel.ts';
import { PacingChart } from './pacing-chart.tsx';
import styles from './delivery.module.css';

/** States from which on something can have been delivered. */
const flown = ['booked', 'delivering', 'delivery_extended', 'paused', 'completed', 'stopped'];

const barOf = (share: number) => ({ width: `${Math.min(100, Math.max(0, share * 100))}%` });

function Why({ hours, winners }: { readonly hours: readonly Hour[]; readonly winners: readonly string[] }) {
  const { language } = usePlace();
  const [won, verdicts] = [wonOf(hours), verdictsOf(hours)];
  const all = won + verdicts.reduce((sum, { breaks }) => sum + breaks, 0);
  if (all === 0) return <p>{t('ads.why_none')}</p>;
  const row = (name: string, code: string, breaks: number, look: string | undefined) => (
    <tr key={code}>
      <th scope="row">
        {name}
        <small>{code}</small>
      </th>
      <td aria-hidden className={styles.barCell}>
        <div className={styles.bar}>
          <i className={look} style={barOf(breaks / all)} />
        </div>
      </td>
      <td className="number">{numberText(breaks, language)}</td>
    </tr>
  );
  return (
    <>
      <table className={styles.why}>
        <tbody>
          {verdicts.map(({ code, breaks }) => row(verdictName(code), code, breaks, styles.lost))}
          {row(verdictName('won'), 'won', won, styles.won)}
        </tbody>
      </table>
      {winners.length > 0 && <p className={styles.note}>{t('ads.winners', { names: winners.join(', ') })}</p>}
    </>
  );
}

/** The way to the decisions about a line item: whoever asks why it is not more looks for a cause. */
const DecisionsLink = ({ workspace, line }: { readonly workspace: string; readonly line: string }) => (
  <Link
    to="/w/$ws/decisions"
    params={{ ws: workspace }}
    search={{ line_item_id: line, purpose: 'campaign_troubleshooting' }}
  >
    {t('ads.its_decisions')}
  </Link>
);

/** What a line item has delivered of its goal, how that compares with its plan, and why it is not more. */
export function DeliveryCards({ workspace, line }: { readonly workspace: Workspace; readonly line: Resource }) {
  const { language } = usePlace();
  const hasFlown = flown.includes(line.lifecycle_state) && seesCampaigns(workspace);
  const query = useQuery({ ...funnelQuery(workspace.id, line.id), enabled: hasFlown });
  if (!hasFlown) return null;
  const { goal, window } = line.attributes as {
    readonly goal: { readonly quantity?: number; readonly unit: string };
    readonly window: { readonly start: string; readonly end: string };
  };
  const say = (value: number) => numberText(Math.round(value), language);
  return (
    <Loaded query={query} lines={5}>
      {({ pacing, total, hours, fit }) => {
        const quantity = goal.unit === 'share_pct' ? undefined : goal.quantity;
        const told = line.attributes['delivered'] as number | undefined;
        // Of a longer flight the hours are not all known; what is committed is.
        const isCommitted = told === undefined && pacing !== null && isBeyondHours(window.start, Date.now());
        const delivered = isCommitted ? pacing.committed : (told ?? total.confirmed);
        const needed =
          quantity === undefined ? undefined : neededPerDay(quantity, delivered, Date.parse(window.end), Date.now());
        const isActive = ['booked', 'delivering', 'delivery_extended', 'paused'].includes(line.lifecycle_state);
        return (
          <>
            <Figures>
              <Figure
                name={t(isCommitted ? 'ads.committed' : 'ads.delivered')}
                value={
                  <>
                    {say(delivered)}{' '}
                    {quantity !== undefined && <span>{t('ads.delivered_of', { goal: say(quantity) })}</span>}
                  </>
                }
                note={
                  quantity !== undefined && (
                    <div className={styles.bar}>
                      <i className={styles.won} style={barOf(delivered / quantity)} />
                    </div>
                  )
                }
              />
              {pacing && pacing.target >= 1 && (
                <Figure
                  name={t('ads.against_plan')}
                  value={shareText(pacing.committed / pacing.target, language)}
                  note={t('ads.plan_note', { target: say(pacing.target) })}
                />
              )}
              {needed !== undefined && isActive && (
                <Figure name={t('ads.needed_a_day')} value={say(needed)} note={t('ads.needed_note')} />
              )}
            </Figures>
            <div className={styles.two}>
              <Card title={t('ads.pacing')} basis={t('ads.pacing_basis')}>
                {pacing ? (
                  <PacingChart lineItemId={line.id} hours={hours} goal={pacing.goal} />
                ) : (
                  <p>{t('ads.no_delivery')}</p>
                )}
              </Card>
              <Card
                title={t('ads.why')}
                basis={t('ads.why_basis')}
                end={<DecisionsLink workspace={workspace.id} line={line.id} />}
              >
                <Why hours={lastDay(hours, Date.now())} winners={(fit?.winners ?? []).map(({ name }) => name)} />
              </Card>
            </div>
          </>
        );
      }}
    </Loaded>
  );
}
