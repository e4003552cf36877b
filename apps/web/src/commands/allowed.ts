import type { CommandForm, TypeForms } from './type-forms.ts';

/** What a person may ask of a resource now: commands of its state and of the person's roles, in the order of the catalog. */
export const allowedCommands = (
  { commands }: TypeForms,
  state: string,
  roles: readonly string[],
): readonly CommandForm[] =>
  commands.filter(({ from, roles: may }) => from?.includes(state) === true && may.some((role) => roles.includes(role)));

/** The command that makes a resource of the type; undefined where the person may not, or nothing does. */
export const makingCommand = ({ commands }: TypeForms, roles: readonly string[]): CommandForm | undefined =>
  commands.find(({ from, roles: may }) => from === null && may.some((role) => roles.includes(role)));

/** Whether a command is sent by its button alone: nothing has to be said, and what it does can be undone or is no end. */
export const isImmediate = ({ schema, to }: CommandForm, { terminalStates }: TypeForms): boolean =>
  Object.keys(schema.properties ?? {}).length === 0 && !(to !== undefined && terminalStates.includes(to));

/** Reviews that the catalog declares, as the texts of a form say them. */
export const reviewText = {
  single: 'ads.review_needed',
  dual: 'ads.review_needed_two',
  host: 'ads.review_host',
  policy: 'ads.review_policy',
} as const;
