import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useWorkspace, type Workspace } from '../../api/me.ts';
import { resourceQuery, type Resource } from '../../api/management.ts';
import { makingCommand } from '../../commands/allowed.ts';
import { hintsOf } from '../../commands/hints.ts';
import { commandName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { buttonClass } from '../../parts/button.tsx';
import { Card, Column } from '../../parts/card.tsx';
import { ProblemPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { AttributePairs } from './attribute-value.tsx';
import { AttachCard } from './attach-card.tsx';
import { BelowCard } from './below-card.tsx';
import { CreativeSound } from './creative-sound.tsx';
import { HistoryCard } from './history-card.tsx';
import { DeliveryCards } from './line-item/delivery-cards.tsx';
import { ownPages } from './own-pages.ts';
import { ResourceFrame } from './resource-frame.tsx';
import { hasForms, useForms, type FormType } from './type-forms.ts';
import styles from './ads.module.css';

const route = getRouteApi('/w/$ws/$type/$id');

/** Attributes that a page shows elsewhere, or that say nothing to people. */
const hidden = [
  'name',
  'legal_name',
  'media',
  'pictures',
  'tracks',
  'storage_key',
  'digest',
  'policies_digest',
  'upload_id',
  'proof',
];

/** Commands for which a page has a place of its own. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  creatives: ['creative.attach_media'],
};

/** The way to halt what serves, beside its other commands. */
function HaltLink({ workspace, creative }: { readonly workspace: Workspace; readonly creative: Resource }) {
  const making = makingCommand(useForms('serving_halts'), workspace.roles);
  if (!making || creative.lifecycle_state !== 'approved') return null;
  return (
    <Link
      className={buttonClass({ kind: 'danger' })}
      to="/w/$ws/$type/new"
      params={{ ws: workspace.id, type: 'serving_halts' }}
      search={{ creative_id: creative.id }}
    >
      {commandName('serving.halt')}
    </Link>
  );
}

function ResourceOf({
  workspace,
  type,
  resource,
}: {
  readonly workspace: Workspace;
  readonly type: FormType;
  readonly resource: Resource;
}) {
  const forms = useForms(type);
  const { below = [] } = hintsOf(type);
  const isLineItem = type === 'line_items';
  return (
    <ResourceFrame
      {...{ workspace, forms, resource }}
      without={elsewhere[type] ?? []}
      before={type === 'creatives' && <HaltLink workspace={workspace} creative={resource} />}
    >
      {isLineItem && <DeliveryCards workspace={workspace} line={resource} />}
      <div className={styles.columns}>
        <Column>
          {type === 'creatives' && <CreativeSound workspace={workspace.id} id={resource.id} />}
          {type === 'creatives' && <AttachCard workspace={workspace} creative={resource} />}
          {below.filter(hasForms).map((each) => (
            <BelowCard key={each} workspace={workspace} parent={resource} type={each} />
          ))}
          <HistoryCard workspace={workspace.id} type={type} id={resource.id} />
        </Column>
        <Card title={t(isLineItem ? 'ads.setup' : 'ads.facts')}>
          <AttributePairs workspace={workspace.id} attributes={resource.attributes} without={hidden} />
        </Card>
      </div>
    </ResourceFrame>
  );
}

/** The page that is made of a type alone. */
function AnyResource() {
  const { ws, type, id } = route.useParams();
  const workspace = useWorkspace(ws);
  const { data, error, refetch } = useQuery({ ...resourceQuery(ws, type, id), enabled: hasForms(type) });
  if (!workspace || !hasForms(type)) return <NotFoundPage />;
  if (error && !data) return <ProblemPage error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  return <ResourceOf key={id} workspace={workspace} type={type} resource={data} />;
}

/** One resource: its state, what it is, what belongs to it, its history, and what the person may do with it. */
export function ResourcePage() {
  const { type } = route.useParams();
  const Own = ownPages[type] ?? AnyResource;
  return <Own />;
}
