/**
 * JSON text of a view. Amounts are bigint inside and JSON integers outside, written digit by digit: nothing is rounded on
 * the way. Members that are undefined are left out.
 */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null || value instanceof Date) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`);
  return `{${members.join(',')}}`;
}
