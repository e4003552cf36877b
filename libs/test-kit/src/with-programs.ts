import { test } from '@jest/globals';

type Run = () => void | Promise<void>;

/** A test that needs programs which variables name: left out where one was not fetched, and a failure where it is required. */
export const withPrograms =
  (...variables: readonly string[]): ((name: string, run: Run) => void) =>
  (name, run) => {
    const missing = variables.filter((variable) => !process.env[variable]);
    if (missing.length === 0) test(name, run);
    else if (process.env['REQUIRE_FOREIGN_ENGINES'] === '1')
      test(name, () => {
        throw new Error(`REQUIRE_FOREIGN_ENGINES=1, but not set: ${missing.join(', ')}.`);
      });
    else test.skip(`${name} (not run, because not set: ${missing.join(', ')})`, () => undefined);
  };
