import { type Config, ConfigError, loadConfig } from '../config.ts';

/** For the processes: mistakes in the settings are printed, all of them and nothing else, and the process ends. */
export function loadConfigOrExit(env: NodeJS.ProcessEnv): Config {
  try {
    return loadConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
