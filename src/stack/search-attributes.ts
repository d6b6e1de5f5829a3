import type { Connection } from '@temporalio/client';

/** By these the Temporal UI finds a payment's runs (H3). Names and types are fixed: other services search by them. */
export const SEARCH_ATTRIBUTES = {
  PaidonceOrderId: 'Keyword',
  PaidoncePaymentId: 'Keyword',
  PaidonceSource: 'Keyword',
  PaidonceStatus: 'Keyword',
  PaidonceNeedsHuman: 'Bool',
} as const;

// Temporal's own numbers for the types of search attributes.
const TYPES = { Keyword: 2, Bool: 5 } as const;

/** Registers those of our search attributes that the namespace does not know yet. Throws what Temporal answers. */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
  if (missing.length > 0) await addSearchAttributes(connection, namespace, Object.fromEntries(missing));
}

/** Registers search attributes that the namespace does not know. Throws what Temporal answers. */
export async function addSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: Readonly<Record<string, keyof typeof TYPES>>,
): Promise<void> {
  const searchAttributes = Object.fromEntries(Object.entries(attributes).map(([name, type]) => [name, TYPES[type]]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

/** What a person runs where we may not register them ourselves. A name without a type of its own would be left out. */
export function searchAttributesCommand(namespace: string): string {
  const flags = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `--name ${name} --type ${type}`);
  return `temporal operator search-attribute create --namespace ${namespace} ${flags.join(' ')}`;
}
