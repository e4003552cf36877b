/** `npx longwave …` and `npm run longwave -- …`: what an operator does by hand on the fleet of `npm start`. */
import { UsageError } from './command.ts';
import { runTool } from './run-tool.ts';
import { readToolLine } from './tool-line.ts';

async function main(args: readonly string[]): Promise<number> {
  const tool = readToolLine(args);
  if (tool) return runTool(tool);
  // The clients of all services take a while to load; a tool needs none of them.
  const { runOperator } = await import('./run-operator.ts');
  return runOperator(args);
}

process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  return error instanceof UsageError ? 2 : 1;
});
