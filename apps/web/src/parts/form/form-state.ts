/** What a control holds. An empty text stands for a field that is not set. */
export type FormValue = string | boolean | readonly string[];
export type FormValues = Readonly<Record<string, FormValue>>;

/** The fields of a thing as they were read, and the tag of that version; undefined for a thing that is not made yet. */
export interface FormVersion<V extends FormValues> {
  readonly etag: string | undefined;
  readonly values: V;
}

/** A field that somebody else changed while it was changed here too. Mine stands in the form. */
interface Conflict<V extends FormValues> {
  readonly name: keyof V & string;
  readonly theirs: FormValue;
}

export interface FormState<V extends FormValues> {
  /** What was read last: changes are counted against it. */
  readonly base: FormVersion<V>;
  readonly values: V;
  readonly conflicts: readonly Conflict<V>[];
  /** Fields that somebody else changed meanwhile, and nobody here. */
  readonly taken: readonly (keyof V & string)[];
}

/** Whether two values say the same. */
const isSame = (a: FormValue | undefined, b: FormValue | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A form on a version. */
export const openForm = <V extends FormValues>(version: FormVersion<V>): FormState<V> => ({
  base: version,
  values: version.values,
  conflicts: [],
  taken: [],
});

/** The fields that differ from what was read. */
export const changedNames = <V extends FormValues>({ base, values }: Pick<FormState<V>, 'base' | 'values'>) =>
  Object.keys(values).filter((name) => !isSame(values[name], base.values[name])) as (keyof V & string)[];

/** The form after a person changed a field. */
export const edited = <V extends FormValues>(
  state: FormState<V>,
  name: keyof V & string,
  value: FormValue,
): FormState<V> => ({
  ...state,
  values: { ...state.values, [name]: value },
});

/**
 * The form after the thing was read anew. A field that only one side changed has that side's value; one that both changed otherwise keeps mine and is
 * a conflict, so nothing is lost on either side.
 */
export function met<V extends FormValues>(state: FormState<V>, version: FormVersion<V>): FormState<V> {
  const { base, values } = state;
  const merged: Record<string, FormValue> = { ...values };
  const conflicts: Conflict<V>[] = [];
  const taken: (keyof V & string)[] = [];
  for (const name of Object.keys(version.values) as (keyof V & string)[]) {
    const [before, mine, theirs] = [base.values[name], values[name], version.values[name]!];
    const known = state.conflicts.find((conflict) => conflict.name === name);
    const isMine = mine !== undefined && !isSame(mine, before);
    const isTheirs = !isSame(theirs, before);
    if (isMine && !isSame(mine, theirs) && (isTheirs || known)) conflicts.push({ name, theirs });
    if (!isMine) merged[name] = theirs;
    if (isTheirs && !isMine) taken.push(name);
  }
  return { base: version, values: merged as V, conflicts, taken: [...new Set([...state.taken, ...taken])] };
}

/** The form after a conflict was decided. */
export function decided<V extends FormValues>(
  state: FormState<V>,
  name: keyof V & string,
  whose: 'mine' | 'theirs',
): FormState<V> {
  const conflict = state.conflicts.find((each) => each.name === name);
  if (!conflict) return state;
  const rest = { ...state, conflicts: state.conflicts.filter((each) => each !== conflict) };
  return whose === 'mine' ? rest : edited(rest, name, conflict.theirs);
}

/** The form after its values were saved. What was typed while they were on their way stays as a change. */
export function saved<V extends FormValues>(state: FormState<V>, sent: V, version: FormVersion<V>): FormState<V> {
  const kept = Object.entries(state.values).filter(([name, value]) => !isSame(value, sent[name]));
  return {
    base: version,
    values: { ...version.values, ...(Object.fromEntries(kept) as Partial<V>) },
    conflicts: [],
    taken: [],
  };
}
