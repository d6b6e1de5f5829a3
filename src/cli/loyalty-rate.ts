import { loadConfig } from '../config.ts';
import { DEFAULT_POLICIES } from '../domain/policies.ts';

/** Points are judged by the merchant's own rate, which the configuration file names. */
export function loyaltyRate(databaseUrl: string): number {
  if ((process.env['PAIDONCE_CONFIG'] ?? '') === '') return DEFAULT_POLICIES.loyaltyPointsPerMajorUnit;
  return loadConfig({ ...process.env, DATABASE_URL: databaseUrl }).policies.loyaltyPointsPerMajorUnit;
}
