import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe, useWorkspace, type Workspace } from '../../api/me.ts';
import { differenceQuery, resourceQuery, useCommand, type Resource } from '../../api/management.ts';
import { allowedCommands } from '../../commands/allowed.ts';
import { choiceName, commandName, fieldName, nounName, typeName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Column, Pairs } from '../../parts/card.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemBanner, ProblemPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Time } from '../../parts/time.tsx';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { AttributePairs, ResourceName } from './attribute-value.tsx';
import { CreativeSound } from './creative-sound.tsx';
import { Difference } from './difference.tsx';
import { HistoryCard } from './history-card.tsx';
import { LifecycleBadge } from './lifecycle-badge.tsx';
import { tellOutcome } from './resource-actions.tsx';
import { mayDecide, reviewTitle, type Review } from './review.ts';
import { useForms } from './type-forms.ts';
import styles from './ads.module.css';

const route = getRouteApi('/w/$ws/review_tasks/$id');

/** What would be true afterwards, field by field. */
function WhatCard({ workspace, task }: { readonly workspace: Workspace; readonly task: Resource<Review> }) {
  const isOpen = ['open', 'changes_requested'].includes(task.lifecycle_state);
  const query = useQuery({ ...differenceQuery(workspace.id, task.id, task.version), enabled: isOpen });
  const { subject, request } = task.attributes;
  return (
    <Card title={t(isOpen ? 'ads.would_change' : 'ads.changed')} basis={nounName(subject.type)}>
      {isOpen ? (
        <Loaded query={query} lines={3}>
          {({ subject: now, difference }) => (
            <Difference workspace={workspace.id} steps={difference} {...(now.attributes && { before: now })} />
          )}
        </Loaded>
      ) : (
        <AttributePairs workspace={workspace.id} attributes={(request.changes ?? {}) as Record<string, unknown>} />
      )}
    </Card>
  );
}

/** Agree, refuse, ask for changes; who asked may withdraw instead. */
function DecideCard({ workspace, task }: { readonly workspace: Workspace; readonly task: Resource<Review> }) {
  const forms = useForms('review_tasks');
  const person = useMe()?.personId;
  const isMine = person === task.attributes.requested_by;
  const [note, setNote] = useState('');
  const { mutate, isPending, error } = useCommand(workspace.id, tellOutcome);
  const isForMe = mayDecide(task.attributes, person, workspace.roles);
  const commands = allowedCommands(forms, task.lifecycle_state, workspace.roles).filter(({ type }) =>
    type === 'review.withdraw' ? isMine : isForMe,
  );
  if (commands.length === 0 && !isMine) return null;
  const send = (type: string) =>
    mutate({
      ...{ type, subject: { type: 'review_tasks', id: task.id } },
      changes: type !== 'review.withdraw' && note.trim() !== '' ? { note: note.trim() } : {},
    });
  return (
    <Card title={t('ads.for_now')}>
      {isMine && <p>{t('ads.own_request')}</p>}
      {isForMe && (
        <Field label={fieldName('note')}>
          {(control) => <textarea {...control} value={note} onChange={({ target }) => setNote(target.value)} />}
        </Field>
      )}
      <div className={styles.buttons}>
        {commands.map(({ type }) => (
          <Button
            key={type}
            busy={isPending}
            {...(type === 'review.approve' && { kind: 'primary' as const })}
            onClick={() => send(type)}
          >
            {commandName(type)}
          </Button>
        ))}
      </div>
      {error !== null && <ProblemBanner error={error} />}
    </Card>
  );
}

function ReviewOf({ workspace, task }: { readonly workspace: Workspace; readonly task: Resource<Review> }) {
  const { subject, due_at: due, decisions, required_roles: roles } = task.attributes;
  return (
    <Page
      title={reviewTitle(task.attributes)}
      crumbs={[
        <Link to="/w/$ws/review_tasks" params={{ ws: workspace.id }}>
          {typeName('review_tasks')}
        </Link>,
      ]}
      meta={<LifecycleBadge type="review_tasks" state={task.lifecycle_state} />}
    >
      <div className={styles.columns}>
        <Column>
          {subject.type === 'creatives' && subject.version > 0 && (
            <CreativeSound workspace={workspace.id} id={subject.id} />
          )}
          <WhatCard workspace={workspace} task={task} />
          <DecideCard workspace={workspace} task={task} />
          <HistoryCard workspace={workspace.id} type="review_tasks" id={task.id} />
        </Column>
        <Card title={t('ads.facts')}>
          <Pairs
            of={[
              [
                t('ads.what'),
                subject.version > 0 ? <ResourceName workspace={workspace.id} id={subject.id} /> : undefined,
              ],
              [fieldName('due_at'), <Time at={due} form="moment" />],
              [fieldName('required_roles'), roles.map(choiceName).join(', ')],
              [
                fieldName('decisions'),
                decisions.length > 0 ? decisions.map(({ note }) => note ?? '–').join(', ') : undefined,
              ],
            ]}
          />
        </Card>
      </div>
    </Page>
  );
}

/** One command that waits for a second person: what it would change, and the decision. */
export function ReviewPage() {
  const { ws, id } = route.useParams();
  const workspace = useWorkspace(ws);
  const { data, error, refetch } = useQuery(resourceQuery<Review>(ws, 'review_tasks', id));
  if (!workspace) return <NotFoundPage />;
  if (error && !data) return <ProblemPage error={error} onRetry={() => void refetch()} />;
  return data ? <ReviewOf workspace={workspace} task={data} /> : <Skeleton lines={8} />;
}
