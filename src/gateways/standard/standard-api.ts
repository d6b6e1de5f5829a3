import type { z } from 'zod';
import type { GatewayError } from '../../domain/gateway-error.ts';

/** What all calls of one account that speaks the protocol share. */
export interface StandardApi {
  /** The answer, or null where the gateway does not know the object. Throws `temporary` alone. */
  read<T>(path: string, schema: z.ZodType<T>, parse?: (text: string) => unknown): Promise<T | null>;
  /** The answer, which has to be there: a list that is not proves nothing absent. Throws `temporary` alone. */
  readList<T>(path: string, schema: z.ZodType<T[]>): Promise<T[]>;
  /** The answer. Throws `rejected`, `temporary` or `unknown`. */
  write<T>(path: string, body: object, key: string, schema: z.ZodType<T>): Promise<T>;
  /** Throws a rejected `amount_too_large` for what JSON cannot carry. */
  jsonAmount(amount: bigint): number;
  /** For an answer that the protocol does not allow. */
  odd(path: string, kind: 'temporary' | 'unknown', cause?: unknown): GatewayError;
}
