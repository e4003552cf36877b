import { mayStyle } from '@longwave/service-kit/terminal';

/** Shows what a program does now: on a terminal in one line that is overwritten, elsewhere not at all. */
export function progressLine(stream: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }) {
  let shown = false;
  const end = () => {
    if (shown) stream.write('\r\u001b[2K');
    shown = false;
  };
  return {
    tell: (text: string): void => {
      if (!mayStyle(stream)) return;
      stream.write(`\r\u001b[2K${text.slice(0, (stream.columns ?? 80) - 1)}`);
      shown = true;
    },
    /** Takes the line away. */
    end,
    [Symbol.dispose]: end,
  };
}
