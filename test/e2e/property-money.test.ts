import { expect, it } from 'vitest';
import { holdProperty } from '../support/property/hold.ts';

/** Draws other commands each day; PROPERTY_SEED plays a day again. `npm run property` plays as many as it is asked for. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? Math.floor(Date.now() / 86_400_000));

it(`whatever is asked, repeated, lost, killed and delivered twice, each accepted key is one effect and one answer (seed ${SEED})`, async () => {
  let accepted = 0;
  await holdProperty({
    ...{ runs: 2, seed: SEED, commands: { minLength: 50, maxLength: 60 } },
    onRun: (keys) => (accepted += keys),
  });
  expect(accepted).toBeGreaterThan(0);
}, 900_000);
