import { useBlocker } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { sortProblems } from '../../api/field-problems.ts';
import { asProblem, type ApiProblem } from '../../api/problems.ts';
import type { MessageKey } from '../../messages/messages.ts';
import { browserStore, drafts } from './draft.ts';
import {
  changedNames,
  decided,
  edited,
  met,
  openForm,
  saved,
  type FormState,
  type FormValue,
  type FormValues,
  type FormVersion,
} from './form-state.ts';

/** What is wrong with a field: a text of ours, or the server's English sentence. */
export type FieldFault = { readonly key: MessageKey } | { readonly sentence: string };

export interface FormOptions<V extends FormValues> {
  /** Under which unsaved text is kept: the id of the thing. */
  readonly draftId: string;
  /** The thing as it is now. A newer version is merged into what was typed. */
  readonly version: FormVersion<V>;
  /** What can be said without the server. */
  readonly check: (values: V, base: V) => Partial<Record<keyof V & string, MessageKey>>;
  /**
   * Sends the changed fields; answers the new version.
   * @param version what was read: the server refuses with 412 if there is a newer one
   */
  readonly save: (
    values: V,
    changed: readonly (keyof V & string)[],
    version: string | undefined,
  ) => Promise<FormVersion<V>>;
  /** Reads the thing anew, after somebody else changed it. */
  readonly reload?: () => void;
}

/** A form as its fields and buttons see it. */
export interface Form<V extends FormValues> {
  readonly state: FormState<V>;
  readonly set: (name: keyof V & string, value: FormValue) => void;
  readonly decide: (name: keyof V & string, whose: 'mine' | 'theirs') => void;
  readonly faultOf: (name: keyof V & string) => FieldFault | undefined;
  readonly changed: readonly (keyof V & string)[];
  readonly isSaving: boolean;
  /** Whether a field is not ready, as while its file is on the way: nothing is saved meanwhile. */
  readonly isWaiting: boolean;
  readonly setWaiting: (name: keyof V & string, isWaiting: boolean) => void;
  /** What the last save was refused for, as far as no field says it. */
  readonly problem: ApiProblem | undefined;
  /** Whether unsaved text of an earlier visit stands in the form. */
  readonly isRestored: boolean;
  /** Saves; true when it was saved. */
  readonly submit: () => Promise<boolean>;
  /** Shows faults that something else than a save has found. */
  readonly blame: (faults: Partial<Record<keyof V & string, MessageKey>>) => void;
  /** Shows what a write that concerns the fields was refused for; true when the fields say it all. */
  readonly refuse: (error: unknown) => boolean;
  /** Throws away what was typed. */
  readonly discard: () => void;
  /** How often that was done: a field that holds more than its value begins anew with each. */
  readonly discards: number;
  /** A navigation that waits for a decision; undefined without one. */
  readonly leaving: { readonly stay: () => void; readonly leave: () => void } | undefined;
}

const kept = drafts(browserStore);

/** Focuses the first field, or the first group of fields, that has a fault. */
export const focusFault = () =>
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid]')?.focus());

function restored<V extends FormValues>({ draftId, version }: FormOptions<V>): FormState<V> | undefined {
  const draft = kept.find(draftId, version.values);
  const state = draft && met({ ...openForm(draft.base), values: draft.values }, version);
  return state && changedNames(state).length > 0 ? { ...state, taken: [] } : undefined;
}

/** Asks before a page with unsaved text is left, and before the tab is closed. */
export function useLeaving(isChanged: () => boolean) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged() && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  return blocker.status === 'blocked' ? { stay: blocker.reset, leave: blocker.proceed } : undefined;
}

/**
 * The state of a form: what was read, what was typed, what is wrong with it. Unsaved text outlives the page and the session; what somebody else saves
 * meanwhile is merged field by field; a refusal stands at its fields.
 */
export function useForm<V extends FormValues>(options: FormOptions<V>): Form<V> {
  const { draftId, version, check, save, reload } = options;
  const [isRestored, setRestored] = useState(() => restored(options) !== undefined);
  const [state, setState] = useState(() => restored(options) ?? openForm(version));
  const [faults, setFaults] = useState<Partial<Record<string, FieldFault>>>({});
  const [problem, setProblem] = useState<ApiProblem>();
  const [isSaving, setSaving] = useState(false);
  const [waiting, setWaiting] = useState<readonly string[]>([]);
  const [discards, setDiscards] = useState(0);
  const changed = changedNames(state);
  const isWaiting = waiting.length > 0;
  const isChanged = useRef(false);
  isChanged.current = changed.length > 0 || isWaiting;

  const { etag } = version;
  useEffect(() => {
    // What this form saves comes back as a version too, and is no change of somebody else.
    if (!isSaving) setState((former) => (former.base.etag === etag ? former : met(former, version)));
    // A version is known by its tag; its values are made anew with each render.
  }, [etag, isSaving]);
  useEffect(() => {
    if (changedNames(state).length > 0) kept.save(draftId, state);
    else kept.drop(draftId);
  }, [draftId, state]);

  const blame = (found: Partial<Record<string, MessageKey>>) => {
    const wrong = Object.entries(found) as [string, MessageKey][];
    setFaults(Object.fromEntries(wrong.map(([name, key]) => [name, { key }])));
    if (wrong.length > 0) focusFault();
    return wrong.length > 0;
  };
  const refuse = (error: unknown) => {
    const refused = asProblem(error);
    const { fields, isWhole } = sortProblems(refused, Object.keys(state.values));
    setFaults(
      Object.fromEntries(Object.entries(fields).map(([name, sentence]) => [name, { sentence: sentence ?? '' }])),
    );
    if (isWhole) focusFault();
    return isWhole;
  };

  const submit = async () => {
    setProblem(undefined);
    if (isSaving || isWaiting || state.conflicts.length > 0) return false;
    if (blame(check(state.values, state.base.values))) return false;
    setSaving(true);
    try {
      const values = state.values;
      const next = await save(values, changed, state.base.etag);
      isChanged.current = false;
      kept.drop(draftId);
      setState((former) => saved(former, values, next));
      setRestored(false);
      return true;
    } catch (error) {
      if (asProblem(error).status === 412) reload?.();
      setProblem(refuse(error) ? undefined : asProblem(error));
      return false;
    } finally {
      setSaving(false);
    }
  };

  return {
    state,
    changed,
    isSaving,
    isWaiting,
    setWaiting: useCallback(
      (name, isNow) => setWaiting((former) => [...former.filter((each) => each !== name), ...(isNow ? [name] : [])]),
      [],
    ),
    discards,
    problem,
    isRestored,
    submit,
    blame: (found) => void blame(found),
    refuse,
    set: (name, value) => {
      setState((former) => edited(former, name, value));
      setFaults(({ [name]: _mended, ...rest }) => rest);
    },
    decide: (name, whose) => setState((former) => decided(former, name, whose)),
    faultOf: (name) => faults[name],
    discard: () => {
      kept.drop(draftId);
      setDiscards((times) => times + 1);
      setState(openForm(version));
      setFaults({});
      setProblem(undefined);
      setRestored(false);
    },
    leaving: useLeaving(() => isChanged.current),
  };
}
