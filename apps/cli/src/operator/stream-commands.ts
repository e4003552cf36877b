import { needed, workspaceOption, type OperatorCommand } from '../command.ts';

const streamOption = { name: 'stream', value: 'STREAM', meaning: 'name of the stream, such as show:1234' };

/** Streams of hosting platforms. */
export const streamCommands: readonly OperatorCommand[] = [
  {
    name: 'stream hold',
    summary:
      'Holds the stream of a hosting platform: no new message is accepted until “stream reopen”. What was accepted serves on.',
    options: [
      workspaceOption,
      streamOption,
      { name: 'reason', value: 'TEXT', meaning: 'why, in a sentence that the platform reads' },
    ],
    example:
      'stream hold --workspace ws_01jcq7v8z4n2m6k9s3x5t1r0wd --stream show:1234 --reason "The platform reports a theft."',
    run: async (operator, options) => {
      const streamId = needed(options, 'stream');
      await operator.holdStream(needed(options, 'workspace'), streamId, needed(options, 'reason'));
      return { stream_id: streamId, state: 'quarantined' };
    },
  },
  {
    name: 'stream reopen',
    summary:
      'Opens a stream of a hosting platform that is held: after contradicting messages, a revoked key, or by “stream hold”.',
    options: [
      workspaceOption,
      streamOption,
      { name: 'reason', value: 'TEXT', meaning: 'why it may go on, in a sentence; it is kept with the stream' },
    ],
    example:
      'stream reopen --workspace ws_01jcq7v8z4n2m6k9s3x5t1r0wd --stream show:1234 --reason "The platform has changed its key."',
    run: async (operator, options) => {
      const streamId = needed(options, 'stream');
      await operator.reopenStream(needed(options, 'workspace'), streamId, needed(options, 'reason'));
      return { stream_id: streamId, state: 'open' };
    },
  },
];
