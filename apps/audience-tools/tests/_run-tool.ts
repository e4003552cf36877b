import { dataFolder } from '@longwave/test-kit/delivery-facts';
import { runCommandLine } from '../src/cli/command-line.ts';

/** Runs a tool as a person would, in this process. */
export async function runTool(
  { commands, help }: { readonly commands: Parameters<typeof runCommandLine>[0]; readonly help: string },
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const said = { out: '', err: '' };
  const code = await runCommandLine(commands, help, args, {
    environment: { AUDIENCE_DATA: dataFolder, ...environment },
    print: (text) => void (said.out += text),
    tell: (text) => void (said.err += text),
    now: () => new Date('2025-12-01T00:00:00Z'),
  });
  return { code, ...said };
}
