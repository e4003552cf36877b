import { readSettings, SettingsError, type StartSettings } from './read-settings.ts';

/** The settings of this process: its arguments and variables. What is wrong with them is printed, all at once, and ends it with exit code 2. */
export function settingsOfProcess(): StartSettings {
  try {
    return readSettings(process.argv.slice(2), process.env, process.env['INIT_CWD'] ?? process.cwd());
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(`${error.message}\nnpm start -- --help explains the options.`);
    process.exit(2);
  }
}
