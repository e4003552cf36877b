import type { ResourceView } from '@longwave/events';
import { needed, type OperatorCommand } from './command.ts';

const brief = ({ id, lifecycle_state: state, attributes }: ResourceView) => {
  const { command_type, subject, requested_by, due_at, decisions } = attributes;
  return { id, state, command_type, subject, requested_by, due_at, decisions };
};

const decision = (verdict: 'approve' | 'decline', usage: string, summary: string): OperatorCommand => ({
  name: `review ${verdict}`,
  usage,
  summary,
  run: async (operator, options) => {
    const note = verdict === 'decline' ? needed(options, 'note') : options['note'];
    const task = { type: 'review_tasks', id: needed(options, 'task') };
    const changes = { ...(note !== undefined && { note }) };
    return brief(await operator.command(needed(options, 'workspace'), `review.${verdict}`, task, changes));
  },
});

/** What accounts asked for that takes a second person: the operator may be that person. */
export const reviewCommands: readonly OperatorCommand[] = [
  {
    name: 'review list',
    usage: '--workspace WS',
    summary: 'commands of a workspace that wait for a review',
    run: async (operator, options) =>
      (await operator.productList(needed(options, 'workspace'), 'review_tasks', ['open', 'changes_requested'])).map(
        brief,
      ),
  },
  decision('approve', '--workspace WS --task RVT [--note TEXT]', 'approves such a command, which then runs'),
  decision('decline', '--workspace WS --task RVT --note TEXT', 'refuses such a command; its operation fails'),
];
