import { useEffect, useMemo, useRef, useState } from 'react';
import { useCommand, type Operation, type Resource } from '../api/management.ts';
import type { Workspace } from '../api/me.ts';
import { asProblem, type ApiProblem } from '../api/problems.ts';
import { t } from '../messages/messages.ts';
import { browserStore, unsaved } from '../parts/form/draft.ts';
import { focusFault, useLeaving } from '../parts/form/use-form.ts';
import { check } from './check.ts';
import type { FormContext } from './fields/context.ts';
import { changesOf, keptFull, type Draft } from './form-value.ts';
import { ofKind } from './of-kind.ts';
import { decidedOn, isTyped, keptForm, meanwhileOf, type Opened } from './opened.ts';
import type { CommandForm, Schema } from './type-forms.ts';

type Faults = FormContext['faults'];

const kept = unsaved(browserStore);

const ownFaults = (schema: Schema, { draft, seen }: Opened): Faults => {
  const full = keptFull(schema, draft, seen?.attributes);
  return Object.fromEntries([
    ...full.map((name) => [`/${name}`, { text: t('form.cannot_empty'), isEnglish: false }] as const),
    ...check(schema, changesOf(schema, draft, seen?.attributes)).map(
      ({ path, code, limit }) => [path, { text: t(`fault.${code}`, { limit: limit ?? 0 }), isEnglish: false }] as const,
    ),
  ]);
};

const serverFaults = ({ fields }: ApiProblem): Faults =>
  Object.fromEntries(
    fields.map(({ path, message }) => [path.replace(/^\/changes/, ''), { text: message, isEnglish: true }]),
  );

/** What the form of a command is about, and begins with. */
export interface CommandFormOptions {
  readonly workspace: Workspace;
  readonly type: string;
  readonly form: CommandForm;
  /** Undefined for a command that makes its subject. */
  readonly resource: Resource | undefined;
  readonly start: Draft;
  /** Under which unsaved text is kept. */
  readonly draftId: string;
  readonly onDone: (operation: Operation) => unknown;
}

/**
 * The state of a command's form: the version that the person saw, what was typed, what is wrong with it. What somebody else changes meanwhile is shown
 * and decided before anything is sent; unsaved text outlives the page and the session.
 */
export function useCommandForm({ workspace, type, form, resource, start, draftId, onDone }: CommandFormOptions) {
  const { guard } = form;
  const [found] = useState(() => keptForm(kept.find(draftId), resource !== undefined));
  const [opened, setOpened] = useState<Opened>(found ?? { seen: resource, start, draft: start });
  const kind = opened.draft['kind'] ?? opened.seen?.attributes['kind'];
  const schema = useMemo(() => ofKind(form.schema, kind), [form.schema, kind]);
  const [isRestored, setRestored] = useState(found !== undefined);
  const [turns, setTurns] = useState(0);
  const [faults, setFaults] = useState<Faults>({});
  const isSent = useRef(false);
  const isUnsent = useRef(false);
  const command = useCommand(workspace.id, async (operation) => {
    isSent.current = true;
    isUnsent.current = false;
    kept.drop(draftId);
    await onDone(operation);
  });
  const isOver = command.isPending || command.isSuccess;
  const newer = resource && !isOver ? meanwhileOf(schema, opened, resource) : undefined;
  const meanwhile = newer && (guard === 'required' || newer.fields.length > 0) ? newer : undefined;
  // A newer version with nothing to decide is as good as the one that was seen.
  const current = meanwhile || isOver || !resource ? opened : { ...opened, seen: resource };
  const isChanged = isTyped(schema, opened);

  isUnsent.current = isChanged && !isSent.current;
  useEffect(() => {
    if (isTyped(schema, opened)) kept.save(draftId, opened);
    else kept.drop(draftId);
  }, [schema, draftId, opened]);

  /** Begins anew with other values: fields hold texts of their own. */
  const turn = (next: Opened) => {
    setOpened(next);
    setTurns((times) => times + 1);
    setFaults({});
    command.reset();
  };
  const subject = { type, id: resource?.id ?? null };
  const version = guard === 'required' ? current.seen?.version : undefined;
  const changes = () => changesOf(schema, current.draft, current.seen?.attributes);
  const send = () => {
    if (command.isPending || meanwhile) return;
    const wrong = ownFaults(schema, current);
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return void focusFault();
    command.mutate(
      { type: form.type, subject, version, changes: changes() },
      {
        onError: (error) => {
          setFaults(serverFaults(asProblem(error)));
          focusFault();
        },
      },
    );
  };
  const { error } = command;
  return {
    /** The fields that are asked for, by what is filled in. */
    schema,
    draft: opened.draft,
    set: (draft: Draft) => setOpened((former) => ({ ...former, draft })),
    faults,
    turns,
    send,
    /** What a program would send. */
    request: () => ({ subject: { ...subject, version }, changes: changes() }),
    meanwhile,
    /** The version that the form was opened on. */
    seen: opened.seen,
    decide: (whose: 'mine' | 'theirs') => resource && turn(decidedOn(schema, opened, resource, whose)),
    error: meanwhile && error && asProblem(error).status === 412 ? null : error,
    isPending: command.isPending,
    isRestored: isRestored && isChanged,
    discard: () => {
      isUnsent.current = false;
      kept.drop(draftId);
      setRestored(false);
      turn({ seen: resource, start, draft: start });
    },
    leaving: useLeaving(() => isUnsent.current),
  };
}
