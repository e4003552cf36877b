import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { resourceQuery, useCommand, type Attributes } from '../../../api/management.ts';
import type { Workspace } from '../../../api/me.ts';
import type { Draft } from '../../../commands/form-value.ts';
import type { Schema } from '../../../commands/type-forms.ts';
import { t, type MessageKey } from '../../../messages/messages.ts';
import { Badge, type Tone } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Card, Pairs } from '../../../parts/card.tsx';
import { numberText } from '../../../parts/format.ts';
import { ProblemBanner } from '../../../parts/problem.tsx';
import { usePlace } from '../../../shell/place.ts';
import { ResourceName } from '../attribute-value.tsx';
import { forecastOf, verdictOf, wantedOf, type Forecast, type Outcomes, type Verdict } from './reach.ts';
import styles from './reach.module.css';

/** Roles that may ask for a forecast. */
const askers = ['trafficker', 'sales', 'admin'];
/** A forecast is asked for again after so long, should the stream of changes be away, in milliseconds. */
const pollMs = 2000;
const shownContending = 5;

const verdicts: Readonly<Record<Verdict, { readonly tone: Tone; readonly name: MessageKey }>> = {
  fits: { tone: 'good', name: 'ads.reach_fits' },
  takes: { tone: 'warn', name: 'ads.reach_takes' },
  short: { tone: 'bad', name: 'ads.reach_short' },
};

/** What a forecast takes for granted that a seller has to know. */
const warnings: Readonly<Record<string, MessageKey>> = {
  no_plays_yet: 'ads.reach_no_plays',
  too_little_known: 'ads.reach_too_little',
  rare_values_hidden: 'ads.reach_hidden',
};

function Result({
  workspace,
  forecast,
  wanted,
}: {
  readonly workspace: string;
  readonly forecast: Forecast;
  readonly wanted: number | undefined;
}) {
  const { language } = usePlace();
  const { capacity, available, possible, contending = [], assumptions = [] } = forecast.attributes;
  const verdict = verdictOf(forecast.attributes, wanted);
  const number = (value: number) => numberText(value, language);
  const range = (of: Outcomes | undefined) =>
    of && (
      <>
        <b className="number">{number(of.p50)}</b>
        <small className={styles.range}>{t('ads.reach_range', { low: number(of.p10), high: number(of.p90) })}</small>
      </>
    );
  return (
    <>
      {verdict && <Badge {...verdicts[verdict]} />}
      <Pairs
        of={[
          [t('ads.reach_possible'), range(possible)],
          [t('ads.reach_available'), range(available)],
          [t('ads.reach_capacity'), range(capacity)],
        ]}
      />
      {assumptions.map((code) => {
        const text = warnings[code];
        return text && <p key={code}>{t(text)}</p>;
      })}
      {contending.length > 0 && (
        <>
          <h3>{t('ads.reach_contending')}</h3>
          <ul className={styles.contending}>
            {contending.slice(0, shownContending).map(({ line_item_id: id, loses, of_goal: goal }) => (
              <li key={id}>
                <ResourceName workspace={workspace} id={id} />
                <span className="number">
                  −{number(loses)}
                  {goal !== undefined && ` ${t('ads.delivered_of', { goal: number(goal) })}`}
                </span>
              </li>
            ))}
          </ul>
          {contending.length > shownContending && (
            <p>{t('ads.reach_more', { count: number(contending.length - shownContending) })}</p>
          )}
        </>
      )}
    </>
  );
}

function Answer({
  workspace,
  id,
  asked,
}: {
  readonly workspace: string;
  readonly id: string;
  readonly asked: Attributes;
}) {
  const isOver = (state: string | undefined) => state !== undefined && state !== 'requested' && state !== 'running';
  const query = useQuery({
    ...resourceQuery<Forecast['attributes']>(workspace, 'forecasts', id),
    refetchInterval: ({ state: { data } }) => (isOver(data?.lifecycle_state) ? false : pollMs),
  });
  if (query.error) return <ProblemBanner error={query.error} />;
  const forecast = query.data;
  if (!forecast || !isOver(forecast.lifecycle_state))
    return (
      <p role="status">
        <progress aria-label={t('ads.reach_counting')} /> {t('ads.reach_counting')}
      </p>
    );
  if (forecast.lifecycle_state === 'ready')
    return <Result workspace={workspace} forecast={forecast} wanted={wantedOf(asked)} />;
  return (
    <p role="status" lang={forecast.attributes.problem ? 'en' : undefined}>
      {forecast.attributes.problem?.detail ?? t('ads.reach_ended')}
    </p>
  );
}

/**
 * How many plays a line item fits that somebody fills in, how many of them are left, and who would get less by it. It is asked when the person asks: a
 * forecast is a job of its own.
 */
export function ReachCard({
  workspace,
  schema,
  draft,
}: {
  readonly workspace: Workspace;
  /** Of the line item's own command. */
  readonly schema: Schema;
  readonly draft: Draft;
}) {
  const [answer, setAnswer] = useState<{ readonly id: string; readonly asked: Attributes }>();
  const command = useCommand(workspace.id);
  if (!workspace.roles.some((role) => askers.includes(role))) return null;
  const request = forecastOf(schema, draft);
  const isOld = answer !== undefined && JSON.stringify(answer.asked) !== JSON.stringify(request);
  const ask = () =>
    request &&
    command.mutate(
      { type: 'forecast.request', subject: { type: 'forecasts', id: null }, changes: request },
      { onSuccess: ({ subject }) => setAnswer({ id: subject.id, asked: request }) },
    );
  return (
    <div className={styles.beside}>
      <Card title={t('ads.reach')}>
        <div className={styles.reach}>
          {answer === undefined && <p>{t(request ? 'ads.reach_help' : 'ads.reach_missing')}</p>}
          {answer && (
            <div aria-live="polite">
              <Answer key={answer.id} workspace={workspace.id} {...answer} />
            </div>
          )}
          {isOld && <p className={styles.old}>{t('ads.reach_old')}</p>}
          {command.error && <ProblemBanner error={command.error} />}
          <div>
            <Button busy={command.isPending} disabled={request === undefined} onClick={ask}>
              {t(answer === undefined ? 'ads.reach_ask' : 'ads.reach_again')}
            </Button>
          </div>
        </div>
      </Card>
    </div>
  );
}
