import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { asProblem } from '../../api/problems.ts';
import { list, type Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { focusFault } from '../../parts/form/use-form.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import styles from './people-page.module.css';

const route = getRouteApi('/podcasts/$podcastId/people');

type Collaborator = NonNullable<Answer<'/podcasts/{id}'>['collaborators']>[number];
type Role = Collaborator['role'];

/** What each role may do, in the order of how much. */
const roles: Readonly<Record<Role, { readonly name: MessageKey; readonly may: MessageKey }>> = {
  editor: { name: 'people.editor', may: 'people.editor_may' },
  analyst: { name: 'people.analyst', may: 'people.analyst_may' },
};
/** Refused to whoever may not invite. */
const collaboratorsQuery = (id: string) => list('/podcasts/{id}/collaborators', { path: { id } });

const roleNames = Object.keys(roles) as readonly Role[];

/** Asks somebody by mail to help with the podcast. */
function InviteCard({ podcastId }: { readonly podcastId: string }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const [isEmpty, setEmpty] = useState(false);
  const invite = useSend('post', '/podcasts/{id}/collaborators', () => {
    showToast(t('people.invited', { email: email.trim() }));
    setEmail('');
  });
  const problem = invite.error && asProblem(invite.error);
  const refused = problem?.fields.find(({ path }) => path === '/email')?.message;
  const send = () => {
    if (invite.isPending) return;
    const isMissing = email.trim() === '';
    setEmpty(isMissing);
    if (isMissing) return void focusFault();
    invite.mutate({ path: { id: podcastId }, body: { email: email.trim(), role } }, { onError: focusFault });
  };
  return (
    <Card title={t('people.invite')}>
      <form
        className={styles.invite}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <p>{t('people.invite_help')}</p>
        <Field
          label={t('people.email')}
          required
          error={isEmpty ? t('fault.required') : refused && <span lang="en">{refused}</span>}
        >
          {(control) => (
            <input
              {...control}
              type="email"
              autoComplete="off"
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
          )}
        </Field>
        <fieldset className={styles.roles}>
          <legend>{t('people.role')}</legend>
          {roleNames.map((name) => (
            <label key={name}>
              <input type="radio" name="role" checked={role === name} onChange={() => setRole(name)} />
              <span>
                <b>{t(roles[name].name)}</b>
                <small>{t(roles[name].may)}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {invite.error !== null && refused === undefined && <ProblemBanner error={invite.error} />}
        <div>
          <Button kind="primary" type="submit" busy={invite.isPending}>
            {t('people.send')}
          </Button>
        </div>
      </form>
    </Card>
  );
}

/** Those who help already, each with a way to end it. */
function PeopleCard({ podcastId, people }: { readonly podcastId: string; readonly people: readonly Collaborator[] }) {
  const [leaving, setLeaving] = useState<Collaborator>();
  const remove = useSend('delete', '/podcasts/{id}/collaborators', () => {
    showToast(t('people.removed', { email: leaving?.email ?? '' }));
    setLeaving(undefined);
  });
  const close = () => {
    setLeaving(undefined);
    remove.reset();
  };
  const end = () => leaving && remove.mutate({ path: { id: podcastId }, query: { ...leaving } });
  if (people.length === 0)
    return (
      <Card title={t('people.title')}>
        <p>{t('people.none')}</p>
      </Card>
    );
  return (
    <Card title={t('people.title')}>
      <ul className={styles.people}>
        {people.map((one) => (
          <li key={`${one.email} ${one.role}`}>
            <span className={styles.who}>
              <b>{one.email}</b>
              <small>{t(roles[one.role].name)}</small>
            </span>
            <Button
              kind="quiet"
              size="small"
              square
              icon={Trash2}
              aria-label={t('people.remove_of', {
                email: one.email ?? '',
                role: one.role ? t(roles[one.role].name) : '',
              })}
              onClick={() => setLeaving(one)}
            />
          </li>
        ))}
      </ul>
      <Dialog
        isOpen={leaving !== undefined}
        onClose={close}
        title={t('people.remove')}
        actions={
          <>
            <Button onClick={close}>{t('cancel')}</Button>
            <Button kind="danger" busy={remove.isPending} onClick={end}>
              {t('people.remove')}
            </Button>
          </>
        }
      >
        <p>{t('people.remove_help', { email: leaving?.email ?? '' })}</p>
        {remove.error !== null && <ProblemBanner error={remove.error} />}
      </Dialog>
    </Card>
  );
}

/** Who helps with a podcast, and in which role. */
export function PeoplePage() {
  const { podcastId } = route.useParams();
  const query = useQuery(collaboratorsQuery(podcastId));
  if (query.error && [403, 404].includes(asProblem(query.error).status))
    return (
      <Card title={t('people.title')}>
        <p>{t('people.not_yours')}</p>
      </Card>
    );
  return (
    <Loaded query={query} lines={6}>
      {({ items }) => (
        <>
          <PeopleCard
            podcastId={podcastId}
            people={items.flatMap(({ email, role }) => (email && role ? [{ email, role }] : []))}
          />
          <InviteCard key={podcastId} podcastId={podcastId} />
        </>
      )}
    </Loaded>
  );
}
