import { createContext, useContext } from 'react';
import type { Workspace } from '../../api/me.ts';
import type { Schema } from '../type-forms.ts';

/** What all fields of a form know. */
export interface FormContext {
  readonly workspace: Workspace;
  /** What is wrong, by JSON Pointer: a sentence of ours, or the server's in English. */
  readonly faults: Readonly<Record<string, { readonly text: string; readonly isEnglish: boolean }>>;
}

export const FormValues = createContext<FormContext | undefined>(undefined);

/** Of the form around a field. */
export function useFormContext(): FormContext {
  const context = useContext(FormValues);
  if (!context) throw new Error('A field stands in no form');
  return context;
}

/** What a field of any schema gets. */
export interface FieldProps {
  readonly schema: Schema;
  /** JSON Pointer into the changes. */
  readonly path: string;
  readonly label: string;
  readonly required: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}
