import type { ResourceView } from '@longwave/events';
import { needed, workspaceOption, type CommandOption, type OperatorCommand } from '../command.ts';

const brief = ({ id, lifecycle_state: state, attributes }: ResourceView) => {
  const { command_type, subject, requested_by, due_at, decisions } = attributes;
  return { id, state, command_type, subject, requested_by, due_at, decisions };
};

const taskOption: CommandOption = {
  name: 'task',
  value: 'RVT',
  idPrefix: 'rvt',
  meaning: 'ID of the review (rvt_…), as “review list” shows it',
};

const decision = (verdict: 'approve' | 'decline', summary: string, note: CommandOption): OperatorCommand => ({
  name: `review ${verdict}`,
  summary,
  options: [workspaceOption, taskOption, note],
  example: `review ${verdict} --workspace ws_01jcq7v8z4n2m6k9s3x5t1r0wd --task rvt_01jcq7y1a6s9d3f8g2h5j4k7mz --note "Checked with the advertiser"`,
  run: async (operator, options) => {
    const task = { type: 'review_tasks', id: needed(options, 'task') };
    const changes = options['note'] === undefined ? {} : { note: options['note'] };
    return brief(await operator.command(needed(options, 'workspace'), `review.${verdict}`, task, changes));
  },
});

/** Commands of accounts that need the consent of a second person. The operator may be that person. */
export const reviewCommands: readonly OperatorCommand[] = [
  {
    name: 'review list',
    summary: 'Lists the commands of a workspace that wait for a review.',
    options: [workspaceOption],
    example: 'review list --workspace ws_01jcq7v8z4n2m6k9s3x5t1r0wd',
    run: async (operator, options) =>
      (await operator.productList(needed(options, 'workspace'), 'review_tasks', ['open', 'changes_requested'])).map(
        brief,
      ),
  },
  decision('approve', 'Approves a command that waits for a review. It then runs.', {
    name: 'note',
    value: 'TEXT',
    meaning: 'a note for the account that asked',
    optional: true,
  }),
  decision('decline', 'Declines a command that waits for a review. Its operation fails.', {
    name: 'note',
    value: 'TEXT',
    meaning: 'the reason, for the account that asked',
  }),
];
