import { rename, writeFile } from 'node:fs/promises';
import type { StackSettings } from './stack-settings.ts';

/** Writes what others need to use the running stack, for us alone to read; it appears whole or not at all. */
export async function writeDevFile(
  file: string,
  settings: StackSettings,
  apiKey: string,
  webhookSecret: string,
): Promise<void> {
  const content = {
    api_url: settings.apiUrl,
    console_url: `${settings.apiUrl}/`,
    temporal_ui_url: settings.temporalUiUrl,
    temporal_address: settings.temporalAddress,
    namespace: settings.namespace,
    database_url: settings.databaseUrl,
    api_key: apiKey,
    simulator_url: settings.simulatorUrl,
    worker_metrics_url: settings.workerMetricsUrl,
    sources: { sim: { webhook_secret: webhookSecret } },
  };
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
