import type { ReactNode } from 'react';
import styles from '../../parts/form/form.module.css';
import { useFormContext } from './context.ts';

/**
 * What is wrong at a place of the changes, in the person's language or in English.
 * @param isWhole whether one control stands for all that is inside, whose faults no other shows
 */
export function useFault(path: string, isWhole = false): ReactNode | undefined {
  const { faults } = useFormContext();
  const inside = Object.keys(faults).find((each) => isWhole && each.startsWith(`${path}/`));
  const found = faults[path] ?? (inside === undefined ? undefined : faults[inside]);
  return found?.isEnglish ? <span lang="en">{found.text}</span> : found?.text;
}

/** The sentence of a fault below what it is about, which names it by `aria-describedby`. */
export const FaultText = ({ id, children }: { readonly id: string; readonly children: ReactNode }) =>
  children === undefined ? null : (
    <span id={id} className={styles.error}>
      {children}
    </span>
  );

/** What a group of fields is given that has a fault of its own: it takes the focus, and is described by the sentence. */
export const faultyGroup = (id: string, fault: ReactNode | undefined) =>
  fault === undefined ? {} : ({ 'aria-describedby': id, 'data-invalid': true, tabIndex: -1 } as const);
