import { UsageError } from './command.ts';
import { tools } from './tools.ts';

/** A tool, its arguments and the data folder. */
export interface ToolLine {
  readonly script: string;
  /** Everything that was typed after its name, but for the data folder. */
  readonly args: readonly string[];
  readonly data: string | undefined;
}

/** Reads the name of a tool and its arguments; undefined for any other command. Throws `UsageError` when `--data` names no folder. */
export function readToolLine(args: readonly string[]): ToolLine | undefined {
  const at = args.findIndex((each) => each === '--data' || each.startsWith('--data='));
  const [option, next] = at < 0 ? [] : args.slice(at);
  const joined = option?.slice('--data='.length);
  const others = args.filter((_, index) => at < 0 || (index !== at && (joined || index !== at + 1)));
  const [name = '', ...rest] = others;
  if (!Object.hasOwn(tools, name)) return undefined;
  const data = joined || next;
  if (option !== undefined && !data) throw new UsageError('--data is empty.');
  return { script: tools[name]!.script, args: rest, data };
}
