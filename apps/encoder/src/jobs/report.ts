import type { ChangesInput, MachineCommand } from '@longwave/command-catalog';
import type { RpcClient } from '@longwave/rpc';
import type { CommandServiceService } from '@longwave/rpc/command';

export type CommandClient = RpcClient<typeof CommandServiceService>;

/** Commands that report what was made. */
type CompleteCommand =
  | 'production.complete'
  | 'production.record_track'
  | 'creative.record_media'
  | 'creative.record_tracks'
  | 'creative.record_pictures'
  | 'podcast.record_intro'
  | 'podcast.record_outro';

/** Commands that report why nothing was made. */
type FailCommand =
  | 'production.fail'
  | 'production.fail_track'
  | 'creative.fail_media'
  | 'creative.fail_tracks'
  | 'creative.fail_pictures'
  | 'podcast.fail_intro'
  | 'podcast.fail_outro';

/** The end of a job as its command. */
interface Report<C extends MachineCommand<'encoder'>> {
  readonly commandType: C;
  readonly changes: ChangesInput<C>;
}

/** The command that reports what the encoder made. */
export type Completion = { [C in CompleteCommand]: Report<C> }[CompleteCommand];

/** Why nothing was made, as the command that reports it. */
export type Failure = { [C in FailCommand]: Report<C> }[FailCommand];
