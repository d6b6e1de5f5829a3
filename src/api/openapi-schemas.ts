import { z } from 'zod';

export type JsonObject = Record<string, unknown>;

/** Turns zod's schemas into OpenAPI's; those with a name stand once, under components. */
export class OpenApiSchemas {
  readonly named: JsonObject = {};

  of(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
    const converted = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: withoutBigDetail }) as JsonObject;
    const { $schema: _, $defs, ...rest } = converted;
    for (const [name, definition] of Object.entries(($defs ?? {}) as JsonObject)) {
      const { id: _id, ...plain } = definition as JsonObject;
      this.named[name] ??= rewritten(plain);
    }
    return rewritten(rest) as JsonObject;
  }
}

/** zod spells formats out as long patterns; the format says it. */
function withoutBigDetail({ jsonSchema }: { jsonSchema: JsonObject }): void {
  if (jsonSchema['format'] !== undefined) delete jsonSchema['pattern'];
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string'
        ? member.replace('#/$defs/', '#/components/schemas/')
        : rewritten(member),
    ]),
  );
}
