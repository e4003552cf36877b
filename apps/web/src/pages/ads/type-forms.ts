import { useSuspenseQuery, queryOptions } from '@tanstack/react-query';
import type { TypeForms } from '../../commands/type-forms.ts';
import { loaders } from '../../generated/forms/index.ts';

/** A resource type that has pages. */
export type FormType = keyof typeof loaders;

/** Whether pages are made of a type. */
export const hasForms = (type: string): type is FormType => Object.hasOwn(loaders, type);

/** The module of a type: states, links and commands. It is loaded once. */
const formsQuery = (type: FormType) =>
  queryOptions({
    queryKey: ['forms', type] as const,
    queryFn: async (): Promise<TypeForms> => (await loaders[type]()).forms,
    staleTime: Number.POSITIVE_INFINITY,
  });

export const useForms = (type: FormType): TypeForms => useSuspenseQuery(formsQuery(type)).data;
