import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { seesCampaigns, useWorkspace, type Workspace } from '../../../api/me.ts';
import { t } from '../../../messages/messages.ts';
import { Badge, type Tone } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Card, Column, Pairs } from '../../../parts/card.tsx';
import { Field } from '../../../parts/field.tsx';
import { instantText, languageName } from '../../../parts/format.ts';
import { Page } from '../../../parts/page.tsx';
import { ProblemPage } from '../../../parts/problem.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { NotFoundPage } from '../../../shell/not-found-page.tsx';
import { usePlace } from '../../../shell/place.ts';
import adStyles from '../ads.module.css';
import { ResourceName } from '../attribute-value.tsx';
import { BreakCard } from './break-card.tsx';
import { traceQuery, type Trace } from './decision-queries.ts';
import { purposes, type Purpose } from './decision-search.ts';
import { WhyNotCard } from './why-not-card.tsx';
import { breakKeysOf } from './why-not.ts';
import { askedName, countryName, noAdReason } from './words.ts';

const route = getRouteApi('/w/$ws/decisions/$id');

const Crumb = ({ workspace }: { readonly workspace: string }) => (
  <Link to="/w/$ws/decisions" params={{ ws: workspace }}>
    {t('nav.decisions')}
  </Link>
);

/** The title of a podcast or an episode: the show's own words. */
const Title = ({ workspace, id }: { readonly workspace: string; readonly id: string }) => (
  <span className="voice">
    <ResourceName workspace={workspace} id={id} />
  </span>
);

/** What the play told: nothing of it names a listener. What was not known is left out. */
function AskedCard({ workspace, trace }: { readonly workspace: string; readonly trace: Trace }) {
  const { language } = usePlace();
  const { request_class: asked, serving_plan_id: plan, policy_versions: policies } = trace;
  const held = trace.suspensions_version === null ? 'decisions.suspensions_none' : 'decisions.suspensions_some';
  const device = asked.device && askedName('device', asked.device);
  const country = asked.country && countryName(asked.country, language);
  return (
    <Card title={t('decisions.asked')}>
      <Pairs
        of={[
          [t('decisions.podcast'), <Title workspace={workspace} id={asked.podcast_id} />],
          [t('decisions.episode'), <Title workspace={workspace} id={asked.episode_id} />],
          [t('decisions.country'), country === '' ? t('decisions.not_known') : country],
          [t('decisions.region'), asked.region],
          [t('decisions.app'), asked.app],
          [t('decisions.device'), [device, asked.operating_system].filter(Boolean).join(', ')],
          [t('decisions.surface'), asked.surface && askedName('surface', asked.surface)],
          [t('decisions.language'), asked.language && languageName(asked.language, language)],
          [t('decisions.explicit'), asked.explicit ? t('ads.yes') : undefined],
          [t('decisions.categories'), asked.content_categories.join(', ')],
          [t('decisions.listener'), t(`decisions.listener_${asked.listener_bucket}`)],
          [
            t('decisions.plan'),
            plan === null ? t('decisions.no_ad_no_plan') : <ResourceName workspace={workspace} id={plan} />,
          ],
          [t('decisions.policies'), policies.map(({ id, version }) => `…${id.slice(-6)} (${version})`).join(', ')],
          [t('decisions.suspensions'), t(held)],
        ]}
      />
    </Card>
  );
}

const tones: Readonly<Record<Trace['replay']['status'], Tone>> = {
  identical: 'good',
  differs: 'bad',
  inputs_expired: 'warn',
};

/** Whether the decision was made once more with the same answer, and what is known where it cannot be. */
const ReplayCard = ({ trace: { replay, candidates } }: { readonly trace: Trace }) => (
  <Card
    title={t('decisions.replay')}
    end={<Badge tone={tones[replay.status]} name={`decisions.replay_${replay.status}`} />}
  >
    <p>{t(`decisions.replay_${replay.status}_why`, { candidates: candidates.length })}</p>
  </Card>
);

function DecisionOf({
  workspace,
  trace,
  purpose,
}: {
  readonly workspace: Workspace;
  readonly trace: Trace;
  readonly purpose: Purpose;
}) {
  const { decided_at: at, picks } = trace;
  const isFilled = picks.length > 0;
  return (
    <Page
      title={t('decisions.title', { time: instantText(at, 'moment', usePlace()) })}
      crumbs={[<Crumb workspace={workspace.id} />]}
      meta={
        <>
          <Badge tone={isFilled ? 'good' : 'plain'} name={`decisions.outcome_${isFilled ? 'filled' : 'empty'}`} />
          {trace.no_ad_reason !== null && (
            <span>
              {t(isFilled ? 'decisions.no_more' : 'decisions.no_ad', { reason: noAdReason(trace.no_ad_reason) })}
            </span>
          )}
          <span>{t('decisions.read_for', { purpose: t(`decisions.purpose_${purpose}`) })}</span>
        </>
      }
    >
      <WhyNotCard workspace={workspace} trace={trace} />
      <div className={adStyles.columns}>
        <Column>
          {breakKeysOf(trace).map((key) => (
            <BreakCard key={key} workspace={workspace.id} trace={trace} breakKey={key} />
          ))}
        </Column>
        <Column>
          <AskedCard workspace={workspace.id} trace={trace} />
          <ReplayCard trace={trace} />
        </Column>
      </div>
    </Page>
  );
}

/** A link without a purpose: nothing is read before one is chosen. */
function PurposePage({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const navigate = route.useNavigate();
  const [purpose, setPurpose] = useState<string>(purposes[0]);
  return (
    <Page title={t('decisions.decision')} crumbs={[<Crumb workspace={workspace.id} />]}>
      <Card title={t('decisions.before')}>
        <Field label={t('decisions.purpose')} hint={t('decisions.purpose_hint')}>
          {(control) => (
            <select {...control} value={purpose} onChange={({ target }) => setPurpose(target.value)}>
              {purposes.map((each) => (
                <option key={each} value={each}>
                  {t(`decisions.purpose_${each}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div className={adStyles.buttons}>
          <Button
            kind="primary"
            onClick={() =>
              void navigate({ search: (former) => ({ ...former, purpose: purpose as Purpose }), replace: true })
            }
          >
            {t('decisions.read')}
          </Button>
        </div>
      </Card>
    </Page>
  );
}

function Read({
  workspace,
  id,
  purpose,
}: {
  readonly workspace: Workspace;
  readonly id: string;
  readonly purpose: Purpose;
}) {
  const { data, error, refetch } = useQuery(traceQuery(workspace.id, id, purpose));
  if (error && !data) return <ProblemPage error={error} onRetry={() => void refetch()} />;
  return data ? <DecisionOf workspace={workspace} trace={data} purpose={purpose} /> : <Skeleton lines={8} />;
}

/** One decision: what was asked, how its breaks were filled, why a line item did or did not get them, and whether it can be repeated. */
export function DecisionPage() {
  const { ws, id } = route.useParams();
  const { purpose } = route.useSearch();
  const workspace = useWorkspace(ws);
  if (!workspace || !seesCampaigns(workspace)) return <NotFoundPage />;
  return purpose === undefined ? (
    <PurposePage workspace={workspace} />
  ) : (
    <Read key={id} workspace={workspace} id={id} purpose={purpose} />
  );
}
