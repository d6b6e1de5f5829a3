import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { StartError } from './start-error.ts';

/** Secrets of the embedded stack; they open nothing outside this machine. */
export interface DevSecrets {
  readonly postgresPassword: string;
  readonly simApiKey: string;
  /** In the form of Standard Webhooks, `whsec_` and base64. */
  readonly simWebhookSecret: string;
}

/** Reads the secrets, or makes them once and keeps them, readable by us alone. */
export async function devSecrets(file: string): Promise<{ secrets: DevSecrets; areNew: boolean }> {
  const kept = await readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StartError(`The secrets of this folder cannot be read: ${(error as Error).message}`);
  });
  if (kept !== null) {
    try {
      return { secrets: JSON.parse(kept) as DevSecrets, areNew: false };
    } catch {
      throw new StartError(`${file} is not JSON any more: remove it, and new secrets are made.`);
    }
  }
  const secrets: DevSecrets = {
    postgresPassword: randomBytes(18).toString('hex'),
    simApiKey: `sim_${randomBytes(18).toString('hex')}`,
    // 24 bytes, the shortest that Standard Webhooks recommends.
    simWebhookSecret: `whsec_${randomBytes(24).toString('base64')}`,
  };
  await writeFile(`${file}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return { secrets, areNew: true };
}
