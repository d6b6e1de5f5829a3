import { z } from 'zod';
import { draw } from './draw.ts';

const chance = z.number().min(0).max(1);
const range = z
  .tuple([z.int().min(0), z.int().min(0)])
  .refine(([min, max]) => min <= max, 'the first number is the smaller one');
const scope = { calls: z.array(z.string()).optional(), next: z.int().min(0).optional() };
const writes = { ...scope, calls: z.array(z.string()).default(['writes']) };

/** A chance alone, or an object with more; a fault that is named without a chance is certain. */
function fault<Shape extends z.ZodRawShape>(shape: Shape) {
  const object = z.strictObject({ chance: chance.default(1), ...shape });
  return z.preprocess((value) => (typeof value === 'number' ? { chance: value } : value), object).optional();
}

/** A range of milliseconds alone, or an object with more. */
function delay<Shape extends z.ZodRawShape>(shape: Shape) {
  const object = z.strictObject({ chance: chance.default(1), ms: range, ...shape });
  return z.preprocess((value) => (Array.isArray(value) ? { ms: value } : value), object).optional();
}

const how = z.enum(['cut', 'half', 'garble', 'hang']).default('cut');

/** What can be asked of PUT /sim/faults; start-simulator.ts says what each one does. */
export const faultsSchema = z.strictObject({
  seed: z.int().optional(),
  repeat: fault({ ...scope, times: z.int().min(1).max(100).default(3) }),
  reorder: fault({ ...scope, ms: range.default([50, 1_500]) }),
  delay_ms: delay(scope),
  drop: fault(scope),
  list_late: delay(scope),
  lose_ack: fault(scope),
  slow_ms: delay(scope),
  rate_limit: fault({ ...scope, retry_after: z.union([z.int().min(0), z.string()]).default(1) }),
  error_before: fault({ ...scope, status: z.int().min(400).max(599).default(503) }),
  late_work: fault({ ...writes, how: z.enum(['cut', 'hang']).default('cut'), after_ms: range.default([300, 2_000]) }),
  refuse: fault({
    ...writes,
    status: z.int().min(400).max(499).default(402),
    code: z.string().default('insufficient_balance'),
  }),
  pending: fault({ ...writes, complete_ms: range.nullable().default([200, 1_000]) }),
  forget_keys: fault(writes),
  error_after: fault({ ...writes, status: z.int().min(500).max(599).default(500) }),
  lose_answer: fault({ ...writes, how }),
});

export type FaultSettings = z.infer<typeof faultsSchema>;
type FaultName = Exclude<keyof FaultSettings, 'seed'>;
type Met<Name extends FaultName> = NonNullable<FaultSettings[Name]>;

export interface Faults {
  settings(): FaultSettings & { seed: number };
  /** Replaces all of them; what is not named is off. The seed stays where none is given. Every stream begins anew. */
  set(settings: FaultSettings): void;
  /** How often each fault was met since it was set. */
  met(): Record<string, number>;
  /** Whether this call (or event) meets the fault: its settings then, else null. `names` are what `calls` may say of it. */
  meets<Name extends FaultName>(name: Name, names: readonly string[]): Met<Name> | null;
  /** A number of the range, by the same seed. */
  between(name: string, range: readonly [number, number]): number;
}

/** `onChange` is told when the settings change, also when one of a limited number of faults is used up. */
export function createFaults(seed: number, onChange: (settings: FaultSettings) => void): Faults {
  let settings: FaultSettings & { seed: number } = { seed };
  let drawn = new Map<string, number>();
  let met: Record<string, number> = {};

  function next(stream: string): number {
    const n = drawn.get(stream) ?? 0;
    drawn.set(stream, n + 1);
    return draw(settings.seed, stream, n);
  }

  function meets<Name extends FaultName>(name: Name, names: readonly string[]): Met<Name> | null {
    const found = settings[name] as (Met<Name> & { chance: number; calls?: string[]; next?: number }) | undefined;
    if (found === undefined || found.next === 0) return null;
    if (found.calls !== undefined && !found.calls.some((call) => names.includes(call))) return null;
    // One stream for each kind of call: what one caller does cannot change what another one meets.
    if (next(`${name}/${names[0] ?? ''}`) >= found.chance) return null;
    met[name] = (met[name] ?? 0) + 1;
    if (found.next !== undefined) {
      settings = { ...settings, [name]: { ...found, next: found.next - 1 } };
      onChange(settings);
    }
    return found;
  }

  return {
    settings: () => settings,
    set(wanted) {
      settings = { ...wanted, seed: wanted.seed ?? settings.seed };
      drawn = new Map();
      met = {};
      onChange(settings);
    },
    met: () => met,
    meets,
    between: (name, [min, max]) => Math.round(min + next(`between/${name}`) * (max - min)),
  };
}
