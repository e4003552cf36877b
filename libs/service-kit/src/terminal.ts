/** A stream that may be a terminal. */
export interface MaybeTerminal {
  readonly isTTY?: boolean;
}

/** Whether colours and lines that are overwritten may be written: only to a terminal, and not with NO_COLOR (https://no-color.org). */
export const mayStyle = (
  { isTTY }: MaybeTerminal,
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>> = process.env,
): boolean => isTTY === true && !NO_COLOR && TERM !== 'dumb';
