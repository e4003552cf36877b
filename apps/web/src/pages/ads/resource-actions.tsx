import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import type { Workspace } from '../../api/me.ts';
import { useCommand, type Operation, type Resource } from '../../api/management.ts';
import { allowedCommands, isImmediate } from '../../commands/allowed.ts';
import type { CommandForm, TypeForms } from '../../commands/type-forms.ts';
import { commandName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import styles from './ads.module.css';

/** Says what became of a command: done, begun, or waiting for another person. */
export function tellOutcome({ command_type: type, state, problem }: Operation): void {
  const command = commandName(type);
  if (state === 'waiting_review') showToast(t('ads.waits', { command }));
  else if (state === 'succeeded') showToast(t('ads.done', { command }));
  else if (problem) showToast(problem.detail);
  else showToast(t('ads.goes_on', { command }));
}

const buttonsMax = 3;

/** What a person may do with a resource in its state: the first as buttons, the others in a menu. */
export function ResourceActions({
  workspace,
  forms,
  resource,
  without = [],
}: {
  readonly workspace: Workspace;
  readonly forms: TypeForms;
  readonly resource: Resource;
  /** Commands for which the page has a place of its own. */
  readonly without?: readonly string[];
}) {
  const navigate = useNavigate();
  const { mutate, isPending, error } = useCommand(workspace.id, tellOutcome);
  const { id, version, lifecycle_state: state } = resource;
  const commands = allowedCommands(forms, state, workspace.roles).filter(({ type }) => !without.includes(type));
  const choose = (form: CommandForm) => {
    if (!isImmediate(form, forms)) {
      const params = { ws: workspace.id, type: forms.type, id, command: form.type };
      return void navigate({ to: '/w/$ws/$type/$id/$command', params });
    }
    const guard = form.guard === 'required' ? { version } : {};
    mutate({ type: form.type, subject: { type: forms.type, id }, ...guard, changes: {} });
  };
  const [shown, rest] = [commands.slice(0, buttonsMax), commands.slice(buttonsMax)];
  return (
    <>
      {shown.map((form) => (
        <Button key={form.type} busy={isPending} onClick={() => choose(form)}>
          {commandName(form.type)}
        </Button>
      ))}
      {rest.length > 0 && (
        <Menu
          name={t('ads.menu')}
          buttonName={t('ads.menu')}
          className={buttonClass({ square: true })}
          button={<Icon of={Ellipsis} />}
          entries={rest.map((form) => ({ name: commandName(form.type), onChoose: () => choose(form) }))}
        />
      )}
      {error !== null && (
        <div className={styles.refusal}>
          <ProblemBanner error={error} />
        </div>
      )}
    </>
  );
}
