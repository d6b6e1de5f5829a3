import { readId } from '../fields.ts';

/** The path of one object; null for what is no id of this protocol, or what every URL parser takes for a step up instead of a name. */
export function objectPath(list: string, id: string): string | null {
  if (readId(id) !== id || id === '.' || id === '..') return null;
  return `${list}/${encodeURIComponent(id)}`;
}

export function queryPath(list: string, query: Record<string, string>): string {
  return `${list}?${new URLSearchParams(query).toString()}`;
}
