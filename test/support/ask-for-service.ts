import { inject } from 'vitest';

/** One of the services of this test run; started now if nobody asked for it before. Throws with the reason if it cannot be. */
export async function askForService<Service>(path: '/postgres' | '/temporal' | '/workflows'): Promise<Service> {
  const response = await fetch(`${inject('servicesUrl')}${path}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Service;
}
