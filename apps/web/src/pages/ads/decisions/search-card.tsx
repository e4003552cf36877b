import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { Workspace } from '../../../api/me.ts';
import { resourcesQuery, type Resource } from '../../../api/management.ts';
import { nameOf } from '../../../commands/name-of.ts';
import { verdictName } from '../../../commands/words.ts';
import { t } from '../../../messages/messages.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { Field, type FieldControl } from '../../../parts/field.tsx';
import { parseDecisionSearch, purposes, verdictCodes, type DecisionSearch } from './decision-search.ts';
import { windowOf } from './search-window.ts';
import styles from './decisions.module.css';

type Choices = readonly (readonly [value: string, name: string])[];

/** Resources as choices; one that the list does not have, as an old one of a link, is there by the end of its id. */
const choicesOf = (rows: readonly Resource[] | undefined, chosen: string): Choices => {
  const known = (rows ?? []).map((row) => [row.id, nameOf(row)] as const);
  return chosen === '' || known.some(([id]) => id === chosen) ? known : [[chosen, `…${chosen.slice(-6)}`], ...known];
};

const Choice = ({
  control,
  value,
  none,
  choices,
  onChange,
}: {
  readonly control: FieldControl;
  readonly value: string;
  readonly none?: string;
  readonly choices: Choices;
  readonly onChange: (value: string) => void;
}) => (
  <select {...control} value={value} onChange={({ target }) => onChange(target.value)}>
    {none !== undefined && <option value="">{none}</option>}
    {choices.map(([each, name]) => (
      <option key={each} value={each}>
        {name}
      </option>
    ))}
  </select>
);

type Typed = Readonly<
  Record<'line_item_id' | 'verdict' | 'podcast_id' | 'episode_id' | 'outcome' | 'from' | 'to' | 'purpose', string>
>;

const typedOf = (search: DecisionSearch): Typed => ({
  ...{ line_item_id: search.line_item_id ?? '', verdict: search.verdict ?? '', outcome: search.outcome ?? '' },
  ...{ podcast_id: search.podcast_id ?? '', episode_id: search.episode_id ?? '' },
  ...{ from: search.from ?? '', to: search.to ?? '', purpose: search.purpose ?? purposes[0] },
});

/** What decisions are searched by, and what for. Nothing is read before somebody presses the button. */
export function SearchCard({
  workspace,
  search,
  onSearch,
}: {
  readonly workspace: Workspace;
  readonly search: DecisionSearch;
  readonly onSearch: (search: DecisionSearch) => void;
}) {
  const [typed, setTyped] = useState(() => typedOf(search));
  const [isTried, setTried] = useState(false);
  const set = (change: Partial<Typed>) => setTyped((former) => ({ ...former, ...change }));
  const lines = useQuery(resourcesQuery(workspace.id, 'line_items')).data;
  const podcasts = useQuery(resourcesQuery(workspace.id, 'podcasts')).data;
  const { podcast_id: parent } = typed;
  const ofPodcast = useQuery({ ...resourcesQuery(workspace.id, 'episodes', { parent }), enabled: parent !== '' });
  const wanted = parseDecisionSearch(typed);
  const { fault } = windowOf(wanted, workspace.timeZone, Date.now());
  const faultText = isTried && fault !== undefined ? t(`decisions.window_${fault}`) : undefined;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (fault === undefined) onSearch(wanted);
  };
  const any = t('decisions.any');
  return (
    <Card title={t('decisions.search')} basis={t('decisions.search_basis')}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <Field label={t('decisions.line_item')}>
          {(control) => (
            <Choice
              {...{ control, value: typed.line_item_id, none: any, choices: choicesOf(lines, typed.line_item_id) }}
              onChange={(line_item_id) => set({ line_item_id })}
            />
          )}
        </Field>
        <Field label={t('decisions.verdict')}>
          {(control) => (
            <Choice
              {...{ control, value: typed.verdict, none: any }}
              choices={verdictCodes.map((code) => [code, verdictName(code)])}
              onChange={(verdict) => set({ verdict })}
            />
          )}
        </Field>
        <Field label={t('decisions.podcast')}>
          {(control) => (
            <Choice
              {...{ control, value: parent, none: any, choices: choicesOf(podcasts, parent) }}
              onChange={(podcast_id) => set({ podcast_id, episode_id: '' })}
            />
          )}
        </Field>
        <Field label={t('decisions.episode')}>
          {(control) => (
            <Choice
              {...{ control, value: typed.episode_id, none: any }}
              choices={choicesOf(parent === '' ? [] : ofPodcast.data, typed.episode_id)}
              onChange={(episode_id) => set({ episode_id })}
            />
          )}
        </Field>
        <Field label={t('decisions.from')} hint={t('decisions.from_hint')} error={faultText}>
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              value={typed.from}
              onChange={({ target }) => set({ from: target.value })}
            />
          )}
        </Field>
        <Field label={t('decisions.to')} hint={t('decisions.to_hint')}>
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              value={typed.to}
              onChange={({ target }) => set({ to: target.value })}
            />
          )}
        </Field>
        <Field label={t('decisions.outcome')}>
          {(control) => (
            <Choice
              {...{ control, value: typed.outcome, none: any }}
              choices={(['filled', 'empty'] as const).map((each) => [each, t(`decisions.outcome_${each}`)])}
              onChange={(outcome) => set({ outcome })}
            />
          )}
        </Field>
        <Field label={t('decisions.purpose')} hint={t('decisions.purpose_hint')}>
          {(control) => (
            <Choice
              {...{ control, value: typed.purpose }}
              choices={purposes.map((each) => [each, t(`decisions.purpose_${each}`)])}
              onChange={(purpose) => set({ purpose })}
            />
          )}
        </Field>
        <div className={styles.submit}>
          <Button kind="primary" type="submit">
            {t('decisions.do_search')}
          </Button>
        </div>
      </form>
    </Card>
  );
}
